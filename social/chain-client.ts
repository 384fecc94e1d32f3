import {
  type Address,
  BaseError,
  createPublicClient,
  type Hex,
  http,
  numberToHex,
  type PublicClient,
  RpcRequestError,
  webSocket,
} from 'viem'
import { wholeFetch } from '../hosts/json-host.ts'

/** Timeout of one call to a node, in milliseconds; a call that fails is retried once. */
const answerTimeoutMs = 2_000
const retries = 1
const retryDelayMs = 100
/** Gas limit of one call to a contract, the deployment of an ERC-6492 wallet included. */
const mostGas = 10_000_000n

export interface ChainClient {
  /** Whether an RPC URL is configured for the chain. */
  readonly isSet: boolean
  /** The viem client, made on first use. Throws when no RPC URL is configured. */
  client(): PublicClient
  /** The error to throw when a call failed: viem's own shows the RPC URL, which may contain an API key. */
  failure(error: unknown): Error
  close(): Promise<void>
}

/** A reader of one chain. It connects when first used; `name` is the chain's, for the error when `rpc` is null. */
export function createChainClient(name: string, rpc: string | null): ChainClient {
  let made: PublicClient | undefined
  return {
    isSet: rpc !== null,
    client() {
      if (rpc === null) throw new Error(`${name}: no RPC address is set, so its contracts cannot be asked`)
      const options = { timeout: answerTimeoutMs, retryCount: retries, retryDelay: retryDelayMs }
      // No cache: a key revoked a moment ago must not be found.
      made ??= createPublicClient({
        cacheTime: 0,
        transport: rpc.startsWith('ws')
          ? webSocket(rpc, { ...options, reconnect: false })
          : http(rpc, { ...options, fetchFn: wholeFetch }),
      })
      return made
    },
    failure(error) {
      const { shortMessage, details } =
        error instanceof BaseError ? error : { shortMessage: String(error), details: '' }
      return new Error(
        `${name}: ${[shortMessage, details].filter(Boolean).join(' ').replaceAll(String(rpc), 'the node')}`,
      )
    },
    async close() {
      if (!made || !rpc?.startsWith('ws')) return
      const socket = (made.transport as unknown as { getRpcClient(): Promise<{ close(): void }> }).getRpcClient()
      await socket.then((open) => open.close()).catch(() => {}) // never connected: nothing to close
    },
  }
}

/** Return data of an eth_call; undefined when the contract failed it: it reverted, say, or ran out of gas. Throws when the node failed. */
export async function callAt(
  chain: ChainClient,
  at: 'latest' | bigint,
  transaction: { from?: Address; to?: Address; data: Hex },
): Promise<Hex | undefined> {
  try {
    const block = at === 'latest' ? at : numberToHex(at)
    const params = [{ ...transaction, gas: numberToHex(mostGas) }, block] as const
    return await chain.client().request({ method: 'eth_call', params: [...params] })
  } catch (error) {
    if (refusedByContract(error)) return undefined
    throw chain.failure(error)
  }
}

/**
 * Codes of a call that its contract failed: 3 is Geth's for a revert, -32015 Nethermind's and OpenEthereum's for any
 * failure of the virtual machine.
 */
const codesOfContracts = [3, -32015]
/**
 * Texts for the failures that a contract can cause: Reth's, and those of go-ethereum (core/vm/errors.go, contracts.go),
 * which Erigon has too. Any other text counts as a failure of the node, which must not look like a bad signature.
 */
const textsOfContracts = [
  /revert|EVM error|out of ?gas|opcode|stack (over|under)flow|jump/i,
  /stack limit reached|(gas|nonce) uint(64)? overflow|return data out of bounds|write protection|max call depth/i,
  /max (init)?code size|must not begin with 0xef|address collision|insufficient balance for transfer/i,
  /invalid input length|malformed point|VM execution/i,
]

/** Whether the contract failed the call, not the node. JSON-RPC has a code for reverts only; the text shows others. */
function refusedByContract(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false
  const answer = error.walk((cause) => cause instanceof RpcRequestError) as RpcRequestError | null
  if (!answer) return false
  return codesOfContracts.includes(answer.code) || textsOfContracts.some((text) => text.test(answer.details))
}
