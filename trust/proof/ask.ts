import { createPublicClient, http } from 'viem'
import { walletChains } from '../verification-claim.ts'
import type { CheckLine } from './line.ts'

/** Nodes, hubs and hosts that the reader of a proof chose to ask, and what the reader knows already. */
export interface Askable {
  /** JSON-RPC addresses by chain id. */
  readonly rpc: ReadonlyMap<number, string>
  /** HTTP addresses of hubs. */
  readonly hubs: readonly string[]
  /** Where the host of a manifest is asked, such as `https://agent.example`; undefined: it is not. */
  readonly host?: string | undefined
  /** Key of the service's transparency log, as /log/key serves it. */
  readonly logKey?: string | undefined
  /** A checkpoint of that log that the reader was shown: a signed note. */
  readonly checkpoint?: string | undefined
  /** Where that log's files are, such as `https://api.example/log`; undefined: they are not asked for. */
  readonly logUrl?: string | undefined
  /** Keys of witnesses of that log that the reader trusts. */
  readonly witnesses?: readonly string[] | undefined
}

/** Timeout of a request to a node, hub or host. */
const timeoutMs = 20_000
/** Most bytes of an answer: a FID has 25 verifications at most, a manifest 64 KiB. */
const mostAnswerBytes = 1024 * 1024

export type Client = ReturnType<typeof createPublicClient>

/**
 * Asks a registry that a proof names. Anybody can deploy one that says yes, so where readers name a node, for the
 * network's own registries or for wallets, only the network's own counts. On another chain, one for development, the line
 * says which contract was asked.
 */
export async function askRegistry(
  name: string,
  askable: Askable,
  kind: 'id' | 'key',
  { chain_id: chainId, contract }: { readonly chain_id: number; readonly contract: string },
  holds: (client: Client) => Promise<boolean | string>,
): Promise<CheckLine> {
  if (chainId === registries.chainId && contract === registries[kind]) return ask(name, askable, chainId, holds)
  const asked = `${contract} of chain ${chainId}`
  if (!walletChains.includes(chainId)) return ask(`${name}, by ${asked}`, askable, chainId, holds)
  return { name, outcome: 'failed', detail: `${asked} is no registry of the network` }
}

/** Asks a node of a chain. A text from `holds` is why its answers leave the check open. */
export async function ask(
  name: string,
  { rpc }: Askable,
  chainId: number,
  holds: (client: Client) => Promise<boolean | string>,
): Promise<CheckLine> {
  const url = rpc.get(chainId)
  if (url === undefined) return { name, outcome: 'unknown', detail: `name a node with --rpc-${chainId} URL` }
  const client = createPublicClient({ transport: http(url, { timeout: timeoutMs, retryCount: 1 }) })
  try {
    if ((await client.getChainId()) !== chainId)
      return { name, outcome: 'unanswered', detail: `${url} is of another chain` }
    const held = await holds(client)
    if (typeof held === 'string') return { name, outcome: 'unknown', detail: held }
    return { name, outcome: held ? 'held' : 'failed' }
  } catch (error) {
    return { name, outcome: 'unanswered', detail: `chain ${chainId}: ${(error as Error).message.split('\n')[0]}` }
  }
}

/** Fetches a document, without redirects. A line: why there is none. */
export async function fetched(url: string): Promise<string | Pick<CheckLine, 'outcome' | 'detail'>> {
  try {
    return String(await fetchedBytes(url))
  } catch (error) {
    return { outcome: 'unanswered', detail: (error as Error).message }
  }
}

/** There is nothing at an address. */
export class NotFound extends Error {}

/** Fetches a document, without redirects. Rejects when there is none: with NotFound when the host says so. */
export async function fetchedBytes(url: string): Promise<Buffer> {
  const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) })
  if (!answer.ok) {
    await answer.body?.cancel()
    const problem = `status ${answer.status}`
    throw answer.status === 404 ? new NotFound(problem) : new Error(problem)
  }
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of answer.body ?? []) {
    size += part.length
    if (size > mostAnswerBytes) throw new Error(`the answer has more than ${mostAnswerBytes} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/**
 * The network's registries, on OP Mainnet, and the block that logs of theirs are searched from, for the check of proofs: it must not take their addresses from the proof, and
 * is packed without the chain table, which says the same.
 */
export const registries = {
  chainId: 10,
  fromBlock: 108864739n,
  id: '0x00000000fc6c5f01fc30151999387bb99a9f489b',
  key: '0x00000000fc1237824fb747abde0ff18990e59b7e',
  /** Of agents (ERC-8004), at the same address on every chain. */
  identity: '0x8004a169fb4a3325136eb29fa0ceb6d2e539a432',
} as const
