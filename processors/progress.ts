import { SourceWatch } from '../hosts/retries.ts'
import type { ChainBlock } from './mapping/block.ts'
import type { UnpaidCount } from './mapping/settle-blocks.ts'
import type { Upgrade } from './mapping/upgrades.ts'

/** Settlements, and authorizations that paid nothing, in some blocks. */
interface Counts {
  settlements: number
  unpaid: number
}

/** Progress of this process, for health checks and metrics. Not persistent: the database has its own record. */
export class Progress {
  /** Head of the source as last seen; undefined: not seen yet. */
  headBlock: number | undefined
  /** Newest block the archive holds, as last seen; undefined: there is none, or it has not been asked. */
  archiveBlock: number | undefined
  /**
   * Last block that this process has read from the archive; before its first batch, the block before the first it asks
   * for. Undefined: there is no archive.
   */
  archiveReadTo: number | undefined
  /** Last block whose rows are committed; undefined: none. */
  indexedBlock: number | undefined
  /** Newest block whose rows will not be undone; undefined: none is final yet. */
  finalBlock: number | undefined
  /** When the last transaction was committed, at first when the process started; milliseconds since 1970. */
  committedAt = Date.now()
  /** Called with the seconds of each transaction, from its begin to its commit. */
  onCommit: (seconds: number) => void = () => {}
  /** When the source last reported its head; milliseconds since 1970. */
  headSeenAt = Date.now()
  /** Since when blocks have been waiting to be indexed, milliseconds since 1970; undefined: none are. */
  behindSince: number | undefined
  /** Time of the newest block in which a contract was upgraded, milliseconds since 1970; 0: this process saw none. */
  upgradedAt = 0
  /** Called with each upgrade of a contract, once its block is committed. */
  onUpgrade: (upgrade: Upgrade) => void = () => {}
  readonly totals: Counts = { settlements: 0, unpaid: 0 }
  /** Reorgs since the start, and how many indexed blocks the last one took back. */
  readonly reorgs = { count: 0, lastDepth: 0 }
  /** Blocks since the start whose logs were taken although their logs bloom tells of more. */
  bloomMismatches = 0
  /** Failures of the sources that are asked for blocks, since the start; `portal`: or of the archive instead of it. */
  readonly sources = { portal: new SourceWatch(), node: new SourceWatch() }

  #counts: Counts = { settlements: 0, unpaid: 0 }
  #beganAt = performance.now()
  #timestamps = new Map<number, number>()
  #upgrades: Upgrade[] = []

  /** Sets the last block that an earlier process committed; undefined: none. */
  resume(indexedBlock: number | undefined): void {
    this.indexedBlock = indexedBlock
  }

  seeHead(block: number): void {
    this.headBlock = block
    this.headSeenAt = Date.now()
    if (block > (this.indexedBlock ?? -1)) this.behindSince ??= this.headSeenAt
    else this.behindSince = undefined
  }

  /** Notes the archive's newest block. It is behind the head, but without a node it is all that is known of it. */
  seeArchive(block: number): void {
    this.archiveBlock = block
    this.seeHead(Math.max(this.headBlock ?? block, block))
  }

  /** Notes a reorg: blocks above `baseBlock` were replaced, and their rows are undone. */
  goBack(baseBlock: number): void {
    const depth = (this.indexedBlock ?? baseBlock) - baseBlock
    if (depth <= 0) return
    this.reorgs.count++
    this.reorgs.lastDepth = depth
  }

  /** Resets the counts when a transaction begins; after a rollback it begins again for the same blocks. */
  begin(): void {
    this.#beganAt = performance.now()
    this.#counts = { settlements: 0, unpaid: 0 }
    this.#timestamps.clear()
    this.#upgrades = []
  }

  /** Counts blocks that the transaction has mapped; they enter `totals`, and upgrades are told, when it is committed. */
  add(
    blocks: readonly ChainBlock[],
    settlements: number,
    unpaid: readonly UnpaidCount[],
    upgrades: readonly Upgrade[],
  ): void {
    this.#counts.settlements += settlements
    for (const { count } of unpaid) this.#counts.unpaid += count
    this.#upgrades.push(...upgrades)
    const last = blocks.at(-1)?.header
    if (last) this.#timestamps.set(last.height, last.timestamp)
  }

  /** Timestamp of the last block that the transaction mapped; null: the source did not send that block. */
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
    for (const upgrade of this.#upgrades.splice(0)) {
      this.upgradedAt = Math.max(this.upgradedAt, upgrade.timestamp)
      this.onUpgrade(upgrade)
    }
    this.onCommit((performance.now() - this.#beganAt) / 1_000)
  }
}
