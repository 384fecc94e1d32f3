import { Refusal } from './refusal.ts'

/** A block by its height and hash. */
export interface BlockPlace {
  readonly height: number
  readonly hash: string
}

/** A block with the hash of its parent. */
export interface LinkedBlock extends BlockPlace {
  readonly parentHash: string
}

/**
 * Requires that blocks come as they follow each other on a chain. A source may leave blocks out in which nothing is, so
 * heights must rise, and of neighbours the hashes must fit.
 */
export class Continuity {
  constructor(
    /** For messages. */
    private readonly source: string,
    /** The block before the next one; undefined: not known. */
    public last: BlockPlace | undefined,
    /** The lowest height that may come. */
    public next = (last?.height ?? -1) + 1,
  ) {}

  /** Takes the next block in. Throws a Refusal when it cannot follow. `toBlock`: the highest that was asked for. */
  follow({ height, hash, parentHash }: LinkedBlock, toBlock = Number.POSITIVE_INFINITY): void {
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
    this.next = height + 1
    this.last = { height, hash }
  }

  /**
   * Takes the first block of an answer that has to begin with the block asked for, empty or not. Throws as `follow`
   * does.
   */
  begin(block: LinkedBlock, toBlock?: number): void {
    if (block.height > this.next) {
      throw new Refusal(
        `${this.source} began with block ${block.height} where ${this.next} was asked for; nothing of it is kept`,
      )
    }
    this.follow(block, toBlock)
  }
}
