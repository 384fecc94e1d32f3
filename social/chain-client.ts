import { BaseError, createPublicClient, http, type PublicClient, webSocket } from 'viem'
import { wholeFetch } from '../hosts/whole-fetch.ts'

/** Timeout of one call to a node, in milliseconds; a call that fails is retried once. */
const answerTimeoutMs = 2_000
const retries = 1
const retryDelayMs = 100

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
