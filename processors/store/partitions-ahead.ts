import { type ChainName, chainOf } from '../../config/chains.ts'
import { maxRangeEnd } from '../../db/block-range.ts'
import { createPool, inTransaction } from '../../db/pool.ts'
import { ensurePartitions } from '../../db/queries/chain/partitions/settlement-partitions.ts'

/** Partitions ahead of the newest row, so that one is there long before it is needed. */
const ahead = 2

/** Sees to it that settlements find their partition; a block beyond the last one would be refused by the database. */
export class PartitionsAhead {
  #madeUpTo = -1

  constructor(
    private readonly databaseUrl: string,
    private readonly chain: ChainName,
  ) {}

  /**
   * Makes the partitions that blocks up to this one need, and some ahead of them. Throws when one that is needed cannot
   * be made; one that is ahead is tried again with the next block.
   */
  async reach(block: number): Promise<void> {
    const { partitions, tokens } = chainOf(this.chain)
    if (tokens.length === 0) return
    const step = partitions.blocks
    if (block + step <= this.#madeUpTo) return
    const pool = createPool({ databaseUrl: this.databaseUrl, name: `processor ${this.chain} partitions`, max: 1 })
    const make = (upTo: number) =>
      inTransaction(pool, (client) => ensurePartitions(client, this.chain, Math.min(upTo, maxRangeEnd)))
    try {
      if (block > this.#madeUpTo) await make(block)
      this.#madeUpTo = Math.max(this.#madeUpTo, block)
      await make(block + ahead * step).then(
        () => {
          this.#madeUpTo = Math.min(block + ahead * step, maxRangeEnd)
        },
        () => {},
      )
    } finally {
      await pool.end()
    }
  }
}
