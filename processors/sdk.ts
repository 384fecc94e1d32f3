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
}

/** A source of blocks. */
export interface SdkSource {
  getBlockHash(height: number): Promise<string | undefined>
  getFinalizedHeight(): Promise<number>
  /** Ascending; with `stopOnHead` what is not final yet is not waited for. */
  // biome-ignore lint/suspicious/noExplicitAny: the blocks' shape follows from the fields that were asked for
  getFinalizedBlocks(requests: SdkRequest[], stopOnHead: boolean): AsyncIterable<{ readonly blocks: any[] }>
}

export interface SdkHotSource {
  /** Calls `navigate` with each new head until `isEnd`; not used with a node that has subscriptions. */
  polling(navigate: (head: { height: number; hash: string }) => Promise<void>, isEnd: () => boolean): Promise<void>
  processHotBlocks(requests: unknown, state: unknown, apply: unknown): Promise<void>
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
