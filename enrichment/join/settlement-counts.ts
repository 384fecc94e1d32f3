import type pg from 'pg'
import { inTransaction } from '../../db/pool.ts'
import { lockJoin } from '../../db/queries/join/events.ts'
import {
  countRecipients,
  countRecipientsOf,
  forgetRecipients,
  movedCounts,
  movedCountsOf,
  type SettlementCounts,
  storeSettlementCounts,
} from '../../db/queries/rollup/counts.ts'
import { allowLargeSums } from '../../db/queries/rollup/sums.ts'

export interface CountOptions {
  readonly pool: pg.Pool
  readonly now: () => Date
  readonly settlementOverloads: 'spec' | 'all'
}

/** Agents written in one transaction: the join waits for it. */
const agentsPerPage = 1_000

/**
 * Brings the counts of all addresses of agents, and with them the counters of the agents, to what the settlements say.
 * Returns how many agents' counters moved.
 */
export async function refreshCounts({ pool, now, settlementOverloads }: CountOptions): Promise<number> {
  // On its own: rows deleted and rows written would not be locked in one order.
  await forgetRecipients(pool)
  const counts = await inTransaction(pool, async (db) => {
    await allowLargeSums(db)
    await countRecipients(db, { settlementOverloads, now: now() })
    return movedCounts(db)
  })
  return store(pool, counts)
}

/** The same of some agents, a hundred at most. */
export async function refreshCountsOf(fids: readonly number[], options: CountOptions): Promise<number> {
  const { pool, now, settlementOverloads } = options
  await countRecipientsOf(pool, { fids, settlementOverloads, now: now() })
  return store(pool, await movedCountsOf(pool, fids))
}

/** Under the join's lock: two transactions that write several agents must not do it in different orders. */
async function store(pool: pg.Pool, counts: readonly SettlementCounts[]): Promise<number> {
  let moved = 0
  for (let first = 0; first < counts.length; first += agentsPerPage) {
    moved += await inTransaction(pool, async (db) => {
      await lockJoin(db)
      return storeSettlementCounts(db, counts.slice(first, first + agentsPerPage))
    })
  }
  return moved
}
