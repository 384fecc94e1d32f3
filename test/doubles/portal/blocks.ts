import type { Query } from './query.ts'

/** A block as the SQD Network stores it: hex in lowercase, quantities as hex, numbers as JSON numbers, time in seconds. */
export interface Block {
  readonly header: Header
  readonly transactions: readonly Transaction[]
  readonly logs: readonly Log[]
  /** Parents before their children, by (transactionIndex, traceAddress). Empty where the network keeps no traces. */
  readonly traces: readonly Trace[]
}

export interface BlockReference {
  readonly number: number
  readonly hash: string
}

export interface Header extends BlockReference {
  readonly parentHash: string
  /** Unix seconds. */
  readonly timestamp: number
}

export interface Transaction {
  readonly transactionIndex: number
  readonly hash: string
  readonly from: string
  /** Null: the transaction creates a contract. */
  readonly to: string | null
  readonly input: string
  /** First four bytes of the input; `0x` when it is shorter. */
  readonly sighash: string
  /** 1 success, 0 reverted. */
  readonly status: number
  readonly [field: string]: unknown
}

export interface Log {
  readonly logIndex: number
  readonly transactionIndex: number
  readonly transactionHash: string
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

export interface Trace {
  readonly transactionIndex: number
  /** Position in the call tree: [] is the transaction's own call. */
  readonly traceAddress: readonly number[]
  readonly type: 'call' | 'create' | 'suicide' | 'reward'
  readonly subtraces: number
  /** Null: the frame did not fail. A frame inside a failed one carries no error of its own. */
  readonly error: string | null
  readonly revertReason: string | null
  readonly action: Readonly<Record<string, unknown>>
  readonly result: Readonly<Record<string, unknown>> | null
}

/** Where the server takes a dataset's blocks from: an array in memory, or a generator that never holds them all. */
export interface BlockSource {
  /** First block of the dataset; a query below it is refused. */
  readonly startBlock: number
  /** Newest block, unfinalized ones included; null while there is none. */
  head(): BlockReference | null
  /** Newest block of `/finalized-stream`; null while there is none. */
  finalizedHead(): BlockReference | null
  /** Header of any block from `startBlock` to the head, blocks without items included. */
  header(number: number): Header
  /** Blocks that hold items, ascending, `from` and `to` included. Blocks left out are empty. */
  blocks(from: number, to: number): Iterable<Block> | AsyncIterable<Block>
  /** Last block of the chunk that holds block `number`: what one worker scans at a time. */
  chunkEnd(number: number): number
  /**
   * The finished lines of a range for a query, when the source keeps them, so that a benchmark measures the client.
   * Undefined: the server makes them from `blocks`.
   */
  prepared?(query: Query, first: number, last: number): Promise<PreparedLines | undefined>
}

export interface PreparedLines {
  /** Complete lines, each ended by a newline, in one gzip member; the first and the last block are among them. */
  readonly gzip: Buffer
  /** Those lines, unpacked. */
  lines(): Buffer
}
