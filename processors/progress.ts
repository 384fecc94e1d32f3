import { SourceWatch } from './failures.ts'
import type { ChainBlock } from './mapping/block.ts'
import type { UnpaidCount } from './mapping/settle-blocks.ts'

/** Totals of the blocks of one transaction. */
interface Counts {
  settlements: number
  unpaid: number
}

/** What this process knows about how far it is; nothing here outlives it, the database has its own record. */
export class Progress {
  /** Head of the source as last seen. */
  headBlock: number | undefined
  /** Newest block the archive holds, as last seen; undefined: there is none, or it has not been asked. */
  archiveBlock: number | undefined
  /** Last block whose rows are committed. */
  indexedBlock: number | undefined
  /** Newest block whose rows will not be undone; undefined: none is final yet. */
  finalBlock: number | undefined
  /** When the last transaction was committed, at first when the process started; milliseconds since 1970. */
  committedAt = Date.now()
  /** Called with the seconds of each transaction, from its begin to its commit. */
  onCommit: (seconds: number) => void = () => {}
  /** When the source last told its head; milliseconds since 1970. */
  headSeenAt = Date.now()
  /** Since when blocks are there to be indexed, on a chain that was idle; undefined: none are. */
  behindSince: number | undefined
  readonly totals: Counts = { settlements: 0, unpaid: 0 }
  /** Reorgs since the start, and how many indexed blocks the last one took back. */
  readonly reorgs = { count: 0, lastDepth: 0 }
  /** How those who are asked for blocks have failed. */
  readonly sources = { portal: new SourceWatch(), node: new SourceWatch() }

  #counts: Counts = { settlements: 0, unpaid: 0 }
  #beganAt = performance.now()
  #timestamps = new Map<number, number>()

  /** What an earlier process committed; undefined: nothing. */
  resume(indexedBlock: number | undefined): void {
    this.indexedBlock = indexedBlock
  }

  seeHead(block: number): void {
    this.headBlock = block
    this.headSeenAt = Date.now()
    if (block > (this.indexedBlock ?? -1)) this.behindSince ??= this.headSeenAt
    else this.behindSince = undefined
  }

  /** Behind the head, but for a chain without a node all that is known of it. */
  seeArchive(block: number): void {
    this.archiveBlock = block
    this.seeHead(Math.max(this.headBlock ?? block, block))
  }

  /** Blocks above this one were replaced, and their rows are undone. */
  goBack(baseBlock: number): void {
    const depth = (this.indexedBlock ?? baseBlock) - baseBlock
    if (depth <= 0) return
    this.reorgs.count++
    this.reorgs.lastDepth = depth
  }

  /** A transaction begins, perhaps once more for the same blocks. */
  begin(): void {
    this.#beganAt = performance.now()
    this.#counts = { settlements: 0, unpaid: 0 }
    this.#timestamps.clear()
  }

  /** The transaction's handler has mapped these blocks. */
  add(blocks: readonly ChainBlock[], settlements: number, unpaid: readonly UnpaidCount[]): void {
    this.#counts.settlements += settlements
    for (const { count } of unpaid) this.#counts.unpaid += count
    const last = blocks.at(-1)?.header
    if (last) this.#timestamps.set(last.height, last.timestamp)
  }

  /** Timestamp of a block the transaction has mapped last; null when the source sent nothing of it. */
  timestampOf(height: number): Date | null {
    const timestamp = this.#timestamps.get(height)
    return timestamp === undefined ? null : new Date(timestamp)
  }

  commit(indexedBlock: number): void {
    this.indexedBlock = indexedBlock
    this.committedAt = Date.now()
    this.behindSince = undefined
    this.totals.settlements += this.#counts.settlements
    this.totals.unpaid += this.#counts.unpaid
    this.onCommit((performance.now() - this.#beganAt) / 1_000)
  }
}
