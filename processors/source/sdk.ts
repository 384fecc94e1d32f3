import { EvmBatchProcessor } from '@subsquid/evm-processor'
import { EvmRpcDataSource } from '@subsquid/evm-processor/lib/ds-rpc/client.js'
import { Rpc } from '@subsquid/evm-processor/lib/ds-rpc/rpc.js'
import type { Registry } from 'prom-client'
import type { SdkLog } from './sdk-log.ts'
import type { Fields } from './wanted-logs.ts'

/**
 * Methods by which EvmBatchProcessor 1.27.3 gets its parts, marked private in its types. A subclass overrides them to
 * return other parts; nothing is assigned to an object of the SDK.
 */
export interface SdkInside {
  getLogger(): SdkLog
  getChainRpcClient(): SdkClient
  getHotDataSource(): SdkSource & SdkHotSource
  getArchiveDataSource(): SdkSource
  getPrometheusServer(): SdkMetrics
  getBatchRequests(): SdkRequest[]
}

/** What is asked for in a range of blocks; `to` undefined: without an end. */
export interface SdkRequest {
  readonly range: { readonly from: number; readonly to?: number }
  readonly request: unknown
}

/** Asks a node over JSON-RPC. Rejects with what the node answered. */
export interface SdkNode {
  call<T = unknown>(method: string, params?: unknown[], options?: SdkCallOptions): Promise<T>
  batchCall<T = unknown>(batch: readonly SdkCall[], options?: SdkCallOptions): Promise<T[]>
}

export interface SdkCall {
  readonly method: string
  readonly params?: readonly unknown[]
}

/** The part of a call's options that is looked at; the rest is passed on. */
export interface SdkCallOptions {
  /** Retries after failures of the connection. */
  readonly retryAttempts?: number
  /** Takes an error that the node answers for a result, or throws. */
  readonly validateError?: (error: { code?: number; message?: string }) => unknown
}

/** The SDK's JSON-RPC client, as its data source uses it. */
export interface SdkClient extends SdkNode {
  readonly url: string
  getConcurrency(): number
  getMetrics(): { url: string; requestsServed: number; connectionErrors: number }
  supportsNotifications(): boolean
  subscribe(subscription: unknown): unknown
  reset(reason?: Error): void
}

/** A block as a node gave it. */
export interface SdkNodeBlock {
  readonly height: number
  readonly hash: string
  readonly block: {
    readonly timestamp?: string
    readonly logsBloom?: string
    readonly transactionsRoot?: string
    readonly transactions: readonly (string | SdkNodeTransaction)[]
  }
  /** Logs of the block, in no order; absent: not read yet. */
  logs?: readonly SdkNodeLog[]
  /** Set: the block is wrong or incomplete and is asked for again. */
  _isInvalid?: boolean
  _errorMessage?: string
}

export interface SdkNodeTransaction {
  readonly hash: string
  readonly from?: string
  readonly to?: string | null
}

export interface SdkNodeLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly logIndex: string
  readonly transactionIndex: string
  readonly transactionHash: string
  readonly blockHash: string
  /** Set: a reorg took the log back. */
  readonly removed?: boolean
}

/** The SDK's reader of a node's blocks. */
export interface SdkReader {
  readonly client: SdkClient
  readonly log: SdkLog | undefined
  readonly validation: object
  readonly genesisHeight: number
  readonly props: object
  /** A call with this reader's priority. */
  call<T = unknown>(method: string, params?: unknown[], options?: SdkCallOptions): Promise<T>
  batchCall<T = unknown>(batch: readonly SdkCall[], options?: SdkCallOptions): Promise<T[]>
  /** All logs of a range of blocks. */
  getLogs(from: number, to: number): Promise<readonly SdkNodeLog[]>
  /** Blocks in the order of their numbers; undefined: the node does not have that one. */
  getBlockBatch(numbers: number[], withTransactions: boolean): Promise<(SdkNodeBlock | undefined)[]>
  getBlockByHash(hash: string, withTransactions: boolean): Promise<{ readonly hash: string } | null>
  /** Adds the logs of blocks that follow each other. */
  addLogs(blocks: readonly SdkNodeBlock[]): Promise<void>
  /** This reader with a priority: its calls are served after those of lower numbers. */
  withPriority(priority: number): SdkReader
}

/** A source of blocks. */
export interface SdkSource {
  getBlockHash(height: number): Promise<string | undefined>
  getFinalizedHeight(): Promise<number>
  /** Final blocks, ascending; with `stopOnHead` it ends at the newest final block instead of waiting for more. */
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

/** What is indexed: the newest final block and the hot blocks above it. */
export type SdkHotState = SdkBlockRef & { readonly top: readonly SdkBlockRef[] }

export interface SdkHotSource {
  processHotBlocks(
    requests: SdkRequest[],
    state: SdkHotState,
    apply: (update: SdkHotUpdate) => Promise<void>,
  ): Promise<void>
}

/** The SDK's source of a node's blocks, with what it asks of itself. */
export interface SdkNodeSource extends SdkSource, SdkHotSource {
  rpc: SdkReader
  /** Calls `navigate` with each new head until `isEnd`; not used with a node that has subscriptions. */
  polling(navigate: (head: SdkBlockRef) => Promise<void>, isEnd: () => boolean): Promise<void>
}

/** What stands behind the SDK's archive source: heights, and blocks for a query of the archive protocol. */
export interface SdkArchive {
  /** Highest block there is. */
  getHeight(): Promise<number>
  /** At least one block, ascending; the last one is the last that was searched. */
  // biome-ignore lint/suspicious/noExplicitAny: the blocks' shape follows from the query's fields; the SDK validates it
  query(query: any): Promise<any[]>
}

/** The SDK's page of metrics, as its processor and its runner use it. */
export interface SdkMetrics {
  readonly registry: Registry
  addRunnerMetrics(metrics: unknown): void
  addChainRpcMetrics(collect: () => { url: string; requestsServed: number; connectionErrors: number }): void
  serve(): Promise<{ port: number | string }>
}

type PublicProcessor = Pick<EvmBatchProcessor<Fields>, keyof EvmBatchProcessor<Fields>>

/** The SDK's classes with what their types keep private open to subclasses. `checkSdk` tells whether they still fit. */
export const SdkProcessor = EvmBatchProcessor as unknown as new () => PublicProcessor & SdkInside
export const SdkNodeSourceClass = EvmRpcDataSource as unknown as new (options: object) => SdkNodeSource
export const SdkReaderClass = Rpc as unknown as new (
  client: SdkClient,
  log: SdkLog | undefined,
  validation: object | undefined,
  genesisHeight: number | undefined,
  priority: number | undefined,
  props: object | undefined,
) => SdkReader

/** Methods that are overridden in each class, or called although its types do not show them. */
const required = [
  [
    EvmBatchProcessor,
    [
      'getLogger',
      'getChainRpcClient',
      'getHotDataSource',
      'getArchiveDataSource',
      'getPrometheusServer',
      'getBatchRequests',
    ] satisfies (keyof SdkInside)[],
  ],
  [EvmRpcDataSource, ['polling', 'processHotBlocks'] satisfies (keyof SdkNodeSource)[]],
  [
    Rpc,
    [
      'call',
      'batchCall',
      'getLogs',
      'getBlockBatch',
      'getBlockByHash',
      'addLogs',
      'withPriority',
    ] satisfies (keyof SdkReader)[],
  ],
] as const

/** Throws when the SDK that is installed lacks a method that a subclass here stands in for: it would never be called. */
export function checkSdk(): void {
  const missing = required.flatMap(([{ name, prototype }, methods]) =>
    methods
      .filter((method) => typeof (prototype as unknown as Record<string, unknown>)[method] !== 'function')
      .map((method) => `${name}.${method}`),
  )
  if (missing.length > 0) throw new Error(`@subsquid/evm-processor of this version has no ${missing.join(', ')}`)
}
