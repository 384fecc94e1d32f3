import type { Logger } from 'pino'
import type { ChainName } from '../../chains.config.ts'
import { createPool } from '../../db/pool.ts'
import { ensurePartitions } from '../../db/queries/chain/partitions-ahead.ts'
import type { Progress } from '../progress.ts'

/** Blocks above the head that have their partition: half a year of a chain with a block a second. */
const aheadBlocks = 15_000_000
const lookEveryMs = 60_000
const maxBlock = 2_147_483_647

/**
 * Makes partitions for settlements long before the head gets there, as it grows. A try that fails is logged and
 * repeated: until the head arrives nothing is lost, and after that rows go to the partition of the rest.
 */
export function keepPartitionsAhead(databaseUrl: string, chain: ChainName, progress: Progress, log: Logger): void {
  let madeUpTo = 0
  const look = async () => {
    const upTo = Math.min((progress.headBlock ?? progress.indexedBlock ?? 0) + aheadBlocks, maxBlock)
    if (upTo < madeUpTo + aheadBlocks / 2) return
    const pool = createPool({ databaseUrl, name: `processor ${chain} partitions`, max: 1 })
    try {
      await ensurePartitions(pool, chain, upTo)
      madeUpTo = upTo
    } catch (error) {
      log.warn(`no partitions up to block ${upTo} yet: ${(error as Error).message}`)
    } finally {
      await pool.end()
    }
  }
  setInterval(look, lookEveryMs).unref()
  look()
}
