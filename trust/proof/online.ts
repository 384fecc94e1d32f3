import { createPublicClient, type Hex, hashMessage, http, keccak256, numberToHex, pad, parseAbi } from 'viem'
import { walletChains } from '../wallet-chains.ts'
import type { CheckLine } from './checks.ts'
import type { ClaimProof, Statement } from './proof.ts'
import { registries } from './registries.ts'

/** Nodes and hubs that the reader of a proof chose to ask. */
interface Askable {
  /** JSON-RPC addresses by chain id. */
  readonly rpc: ReadonlyMap<number, string>
  /** HTTP addresses of hubs. */
  readonly hubs: readonly string[]
}

/** Timeout of a request to a node or hub. */
const timeoutMs = 20_000
/** Most bytes of a hub's page of verifications; a FID has 25 verifications at most. */
const mostPageBytes = 1024 * 1024

const registry = parseAbi([
  'struct KeyData { uint8 state; uint32 keyType; }',
  'function keyDataOf(uint256 fid, bytes key) view returns (KeyData)',
  'function custodyOf(uint256 fid) view returns (address)',
])
const wallet = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
/** Value by which a contract wallet confirms a signature. Source: ERC-1271. */
const yes = '0x1626ba7e'

/** Checks that need a chain or a hub: `unknown` where the reader named none, `unanswered` where asking it failed. */
export async function checkOnline(proof: ClaimProof, askable: Askable): Promise<CheckLine[]> {
  const lines = [
    ...proof.keys
      .filter(({ source }) => source === 'chain')
      .map((place) =>
        askRegistry(`${place.key}: the registry had it for the FID`, askable, 'key', place, async (client) => {
          const args = [BigInt(proof.fid), place.key as Hex] as const
          const address = place.contract as Hex
          const { state, keyType } = await client.readContract({
            address,
            abi: registry,
            functionName: 'keyDataOf',
            args,
          })
          return keyType === 1 && state >= 1
        }),
      ),
    ...proof.keys.flatMap((place) => {
      const { key, contract, add } = place
      if (!add) return []
      const topics = [addTopic, topicOf(proof.fid), topicOf(1), keccak256(key as Hex)]
      return askRegistry(`${key}: the log that added it`, askable, 'key', place, (client) =>
        isAt(client, contract, add, topics),
      )
    }),
    ...proof.keys.flatMap((place) => {
      const { key, contract, remove } = place
      if (!remove) return []
      const topics = [removeTopic, topicOf(proof.fid), keccak256(key as Hex)]
      return askRegistry(`${key}: the log that removed it`, askable, 'key', place, (client) =>
        isAt(client, contract, remove, topics),
      )
    }),
    ...proof.keys.flatMap(({ key, key_add }) => (key_add ? keySigner(proof, key, key_add.signed_by, askable) : [])),
    ...custodyLines(proof, askable),
    ...proof.address_proofs
      .filter(({ verification }) => verification?.type === 1)
      .map(({ address, verification }) =>
        ask(`${address}: the wallet says yes`, askable, verification?.chain_id ?? 0, (client) =>
          saysYes(client, address, verification?.digest as Hex, verification?.claim_signature as Hex),
        ),
      ),
    ...walletStatement(proof, askable),
    ...askable.hubs.flatMap((hub) =>
      proof.address_proofs.map((one) => stillThere(hub, proof.fid, one.address, one.message?.hash)),
    ),
  ]
  return Promise.all(lines)
}

/**
 * Whether the address that signed for a key off the chain is the custody address, or was until the last transfer. Any
 * other may have been earlier still, which nobody is asked. A live claim that rests on a former owner's key is `unknown`
 * too: former owners can still sign with it.
 */
async function keySigner(
  { fid, state, custody, address_proofs }: ClaimProof,
  key: string,
  signer: string,
  askable: Askable,
): Promise<CheckLine> {
  const name = `${key}: who signed for it is the custody address`
  if (!custody) return { name, outcome: 'unknown', detail: 'the proof names no custody address' }
  const { contract, since } = custody
  const isRelied = address_proofs.some(({ message, before_custody }) => message?.signer === key && !before_custody)
  return askRegistry(name, askable, 'id', custody, async (client) => {
    if ((await custodyOf(client, contract, fid)) === signer) return true
    const topics = [transferTopic, pad(signer as Hex), undefined, topicOf(fid)]
    if (!since || !(await isAt(client, contract, since, topics))) return 'it is not today, and may have been earlier'
    return state === 'ended' || !isRelied || 'it was until the last transfer, and the claim rests on the key'
  })
}

function custodyLines({ fid, custody }: ClaimProof, askable: Askable): Promise<CheckLine>[] {
  if (!custody) return []
  const { address, contract, since } = custody
  const still = askRegistry('the custody is still the same', askable, 'id', custody, async (client) => {
    return (await custodyOf(client, contract, fid)) === address
  })
  if (!since) return [still]
  const given = askRegistry('the log that gave the FID to its custody', askable, 'id', custody, (client) =>
    isAt(client, contract, since, [transferTopic, undefined, pad(address as Hex), topicOf(fid)]),
  )
  return [given, still]
}

function walletStatement(proof: ClaimProof, askable: Askable): Promise<CheckLine>[] {
  const statement: Statement = proof.statement
  if (statement.kind !== 'eip191') return []
  const behind = proof.address_proofs.find(({ address }) => address === statement.address)
  if (behind?.verification?.type !== 1) return []
  return [
    ask('the wallet signed the text', askable, statement.chain_id, (client) =>
      saysYes(client, statement.address, hashMessage(statement.text), statement.signature as Hex),
    ),
  ]
}

type Client = ReturnType<typeof createPublicClient>

/**
 * Asks a registry that a proof names. Anybody can deploy one that says yes, so where readers name a node, for the
 * network's own registries or for wallets, only the network's own counts. On another chain, one for development, the line
 * says which contract was asked.
 */
async function askRegistry(
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
async function ask(
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

async function custodyOf(client: Client, contract: string, fid: number): Promise<string> {
  const asked = { address: contract as Hex, abi: registry, functionName: 'custodyOf', args: [BigInt(fid)] } as const
  return (await client.readContract(asked)).toLowerCase()
}

/** Event Add(uint256 fid, uint32 keyType, bytes key, bytes, uint8, bytes) of farcasterxyz/contracts, KeyRegistry. */
const addTopic = '0x7d285df41058466977811345cd453c0c52e8d841ffaabc74fc050f277ad4de02'
/** Event of the KeyRegistry: Remove(uint256 fid, bytes key, bytes). */
const removeTopic = '0x09e77066e0155f46785be12f6938a6b2e4be4381e59058129ce15f355cb96958'
/** Event of the IdRegistry: Transfer(address from, address to, uint256 id). */
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const topicOf = (number: number) => numberToHex(number, { size: 32 })

/** Position of a log according to a proof; `block_hash` absent: not stated. */
interface LogPlace {
  readonly block_number: number
  readonly block_hash?: string
  readonly tx_hash: string
  readonly log_index: number
}

/** Whether the contract's log at this position has these topics; a topic of undefined matches any. */
async function isAt(
  client: Client,
  contract: string,
  place: LogPlace,
  topics: readonly (string | undefined)[],
): Promise<boolean> {
  const { blockHash, logs } = await client.getTransactionReceipt({ hash: place.tx_hash as Hex })
  const log = logs.find(({ logIndex }) => logIndex === place.log_index)
  if (!log || Number(log.blockNumber) !== place.block_number) return false
  if (place.block_hash !== undefined && blockHash !== place.block_hash) return false
  const isTopic = (topic: string | undefined, index: number) => topic === undefined || log.topics[index] === topic
  return log.address.toLowerCase() === contract && topics.every(isTopic)
}

/** Last 32 bytes of a signature by a contract that is not deployed yet, hex. Source: ERC-6492. */
const undeployedMark = '6492'.repeat(16)

async function saysYes(client: Client, address: string, hash: Hex, signature: Hex): Promise<boolean> {
  if (signature.endsWith(undeployedMark)) return client.verifyHash({ address: address as Hex, hash, signature })
  const args = [hash, signature] as const
  return (
    (await client.readContract({ address: address as Hex, abi: wallet, functionName: 'isValidSignature', args })) ===
    yes
  )
}

async function stillThere(hub: string, fid: number, address: string, hash: string | undefined): Promise<CheckLine> {
  const name = `${address}: ${new URL(hub).host} has the message`
  try {
    const url = `${hub.replace(/\/+$/, '')}/v1/verificationsByFid?fid=${fid}`
    const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) })
    const text = await answer.text()
    if (!answer.ok) return { name, outcome: 'unanswered', detail: `status ${answer.status}` }
    if (text.length > mostPageBytes)
      return { name, outcome: 'unanswered', detail: `its page has more than ${mostPageBytes} bytes` }
    const { messages = [] } = JSON.parse(text) as { messages?: { hash?: string }[] }
    return { name, outcome: messages.some((message) => message.hash === hash) ? 'held' : 'failed' }
  } catch (error) {
    return { name, outcome: 'unanswered', detail: (error as Error).message }
  }
}
