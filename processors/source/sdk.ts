import { EvmBatchProcessor } from '@subsquid/evm-processor'
import type { Registry } from 'prom-client'
import type { SdkLog } from './sdk-log.ts'

/**
 * What EvmBatchProcessor 1.27.3 keeps to itself and this program replaces on an instance. All these names are used
 * through this file alone; `openSdk` stops the process at its start when one is gone.
 */
export interface SdkInside {
  getLogger(): SdkLog
  getChainRpcClient(): SdkNode
  getHotDataSource(): SdkSource & SdkHotSource
  getArchiveDataSource(): SdkSource & { readonly client: SdkArchive }
  getPrometheusServer(): SdkMetrics
  getBatchRequests(): SdkRequest[]
}

/** What is asked for in a range of blocks; `to` undefined: without an end. */
export interface SdkRequest {
  readonly range: { readonly from: number; readonly to?: number }
  readonly request: unknown
}

/** The SDK's JSON-RPC client: retries what is worth it and rejects with what the node answered. */
export interface SdkNode {
  call<T = unknown>(method: string, params?: unknown[], options?: { retryAttempts?: number }): Promise<T>
  batchCall(batch: SdkCall[], options?: object): Promise<unknown[]>
  /** Begins a pause after a failure. */
  backoff(reason: Error, request?: unknown): void
  /** End of the pause, milliseconds since 1970. */
  backoffTime?: number
}

export interface SdkCall {
  readonly method: string
  readonly params?: unknown[]
}

/** A block as a node gave it. */
export interface SdkNodeBlock {
  readonly height: number
  readonly hash: string
  readonly block: { readonly logsBloom?: string }
  /** In no order. */
  readonly logs?: readonly { readonly address: string; readonly topics: readonly string[]; readonly logIndex: string }[]
  /** Set: the block is asked for again. */
  _isInvalid?: boolean
  _errorMessage?: string
}

/** What asks a node for blocks. */
export interface SdkBlockReader {
  /** In the order of the numbers; undefined: the node does not have it. */
  getBlockBatch(numbers: number[], withTransactions: boolean): Promise<(SdkNodeBlock | undefined)[]>
  getBlockByHash(hash: string, withTransactions: boolean): Promise<{ readonly hash: string } | null>
  /** Adds the logs of blocks that follow each other. */
  addLogs(blocks: readonly SdkNodeBlock[]): Promise<void>
  /** The same reader, served after those of lower numbers. */
  withPriority(priority: number): this
}

/** A source of blocks. */
export interface SdkSource {
  getBlockHash(height: number): Promise<string | undefined>
  getFinalizedHeight(): Promise<number>
  /** Ascending; with `stopOnHead` what is not final yet is not waited for. */
  getFinalizedBlocks(requests: SdkRequest[], stopOnHead: boolean): AsyncIterable<SdkBatch>
}

/** Blocks in a row, ascending; an archive leaves those out in which nothing is. */
export interface SdkBatch {
  // biome-ignore lint/suspicious/noExplicitAny: the blocks' shape follows from the fields that were asked for
  readonly blocks: any[]
}

/** What a source of hot blocks hands over: `blocks` replace all above `baseHead`. */
export interface SdkHotUpdate {
  readonly blocks: readonly { readonly header: SdkBlockRef }[]
  readonly baseHead: SdkBlockRef
}

export interface SdkBlockRef {
  readonly height: number
  readonly hash: string
}

export interface SdkHotSource {
  readonly rpc: SdkBlockReader
  /** Calls `navigate` with each new head until `isEnd`; not used with a node that has subscriptions. */
  polling(navigate: (head: { height: number; hash: string }) => Promise<void>, isEnd: () => boolean): Promise<void>
  processHotBlocks(
    requests: unknown,
    state: SdkBlockRef & { readonly top: readonly SdkBlockRef[] },
    apply: (update: SdkHotUpdate) => Promise<void>,
  ): Promise<void>
}

/** What stands behind the SDK's archive source: heights, and blocks for a query of the archive protocol. */
export interface SdkArchive {
  /** Highest block there is. */
  getHeight(): Promise<number>
  /** At least one block, ascending; the last one is the last that was searched. */
  // biome-ignore lint/suspicious/noExplicitAny: the blocks' shape follows from the query's fields; the SDK validates it
  query(query: any): Promise<any[]>
}

export interface SdkMetrics {
  readonly registry: Registry
  addChainRpcMetrics(collect: () => { url: string; requestsServed: number; connectionErrors: number }): void
  serve(): Promise<{ port: number | string }>
}

const names = [
  'getLogger',
  'getChainRpcClient',
  'getHotDataSource',
  'getArchiveDataSource',
  'getPrometheusServer',
  'getBatchRequests',
] as const satisfies (keyof SdkInside)[]

/** A processor, and the same object as seen from inside. */
export function openSdk(): { processor: EvmBatchProcessor; inside: SdkInside } {
  const processor = new EvmBatchProcessor()
  const inside = insideOf(processor)
  const missing = names.filter((name) => typeof inside[name] !== 'function')
  if (missing.length > 0) throw new Error(`@subsquid/evm-processor of this version has no ${missing.join(', ')}`)
  return { processor, inside }
}

export function insideOf(processor: object): SdkInside {
  return processor as SdkInside
}

/** Whether the node answered a call and said no. Its other failures, a broken connection say, are worth another try. */
export function isAnswer(error: unknown): boolean {
  return ['RpcError', 'HttpError'].includes((error as Error).name)
}
