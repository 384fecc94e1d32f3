import { type BlockRange, lengthOf } from '../../db/block-range.ts'

/** Shorter runs of empty blocks are not checked. */
const usualBlocks = 4

/** Finds the runs of blocks in which a source has nothing that are longer than is usual where it has something. */
export class EmptyRuns {
  /** First block behind the last one in which the source had something. */
  #emptyFrom: number
  /** The longest run that has ended and was not looked at yet. */
  #ended: BlockRange | undefined
  #usual: number

  /** `usual`: length of the longest run that is not doubted; one that is twice as long is. */
  constructor(
    private readonly fromBlock: number,
    usual = usualBlocks,
  ) {
    this.#emptyFrom = fromBlock
    this.#usual = Math.max(usual, usualBlocks)
  }

  get usual(): number {
    return this.#usual
  }

  /** A block has something: the run of blocks before it is over. */
  end(block: number): void {
    this.#ended = longer(this.#ended, { fromBlock: this.#emptyFrom, toBlock: block - 1 })
    this.#emptyFrom = block + 1
  }

  /**
   * The longest run up to a block since the last call, when it is unusual. `isAll`: it is the last block there is, so
   * that a run without an end is doubted in any case.
   */
  unusual(lastBlock: number, isAll: boolean): BlockRange | undefined {
    const run = longer(this.#ended, { fromBlock: this.#emptyFrom, toBlock: lastBlock })
    this.#ended = undefined
    const isEmpty = isAll && this.#emptyFrom === this.fromBlock
    return lengthOf(run) > 2 * this.#usual || isEmpty ? run : undefined
  }

  /** Somebody else has nothing in this run either. */
  confirm(run: BlockRange): void {
    this.#usual = Math.max(this.#usual, lengthOf(run))
  }
}

function longer(one: BlockRange | undefined, other: BlockRange): BlockRange {
  return one && lengthOf(one) >= lengthOf(other) ? one : other
}
