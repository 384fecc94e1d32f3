import { Refusal } from '../ops/cli.ts'
import { day } from '../ops/time.ts'

/** A block by its height and hash. */
export interface BlockPlace {
  readonly height: number
  readonly hash: string
}

/** A block with the hash of its parent. */
export interface LinkedBlock extends BlockPlace {
  readonly parentHash: string
  /** Milliseconds since 1970; absent: it was not asked for. */
  readonly timestamp?: number | undefined
}

/** Longest by which a block may be later than this machine's clock: more means another unit than seconds. */
const maxAheadMs = day

/** The date of a block that is later than now by more than clocks differ, in milliseconds; undefined: it is not. */
export function describeDate(timestamp: number, now = Date.now()): string | undefined {
  if (timestamp <= now + maxAheadMs) return undefined
  const date = new Date(timestamp)
  const text = Number.isNaN(date.getTime()) ? 'beyond all dates' : date.toISOString()
  return `${text}, later than now by more than a day`
}

/**
 * Checks that blocks form one chain. A source may leave out blocks without results, so heights must rise, and where two
 * blocks are neighbours the parent hash must match.
 */
export class Continuity {
  constructor(
    /** Name of the source, for messages. */
    private readonly source: string,
    /** The last block accepted, at first the one before the range; undefined: not known. */
    public last: BlockPlace | undefined,
    /** The lowest height that may come. */
    public next = (last?.height ?? -1) + 1,
  ) {}

  /** Accepts the next block. Throws a Refusal when it cannot follow `last`. `toBlock`: highest block asked for. */
  follow({ height, hash, parentHash, timestamp = 0 }: LinkedBlock, toBlock = Number.POSITIVE_INFINITY): void {
    const { last, next, source } = this
    if (!(height >= next && height <= toBlock)) {
      throw new Refusal(`${source} sent block ${height} where ${next} or a later one was due; nothing of it is kept`)
    }
    if (last && height === last.height + 1 && parentHash !== last.hash) {
      throw new Refusal(
        `${source} sent block ${height} with parent ${parentHash}, but block ${last.height} is ${last.hash}; ` +
          'nothing of it is kept',
      )
    }
    const late = describeDate(timestamp)
    if (late) throw new Refusal(`${source} dates block ${height} ${late}; nothing of it is kept`)
    this.next = height + 1
    this.last = { height, hash }
  }

  /** Accepts the first block of an answer: it must be the block asked for, even if empty. Throws like `follow`. */
  begin(block: LinkedBlock, toBlock?: number): void {
    if (block.height > this.next) {
      throw new Refusal(
        `${this.source} began with block ${block.height} where ${this.next} was asked for; nothing of it is kept`,
      )
    }
    this.follow(block, toBlock)
  }
}
