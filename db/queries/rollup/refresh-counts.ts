import type pg from 'pg'
import { inTransaction, type Queryable } from '../../pool.ts'
import { lockJoin } from '../join/lock.ts'
import { allowLargeSums } from '../server/transaction-settings.ts'
import {
  countRecipients,
  countRecipientsOf,
  forgetRecipients,
  movedCounts,
  movedCountsOf,
  type SettlementCounts,
  storeSettlementCounts,
} from './recipient-counts.ts'

interface CountOptions {
  readonly pool: pg.Pool
  readonly now: () => Date
  readonly settlementOverloads: 'spec' | 'all'
}

/** Agents written in one transaction: the join waits for it. */
const agentsPerPage = 1_000

/**
 * Recomputes from settlements the counts of all agents' addresses, then the agents' counters.
 * Returns how many agents' counters changed.
 */
export async function refreshCounts({ pool, now, settlementOverloads }: CountOptions): Promise<number> {
  // In a transaction of its own: together with the writes, rows would not be locked in one order.
  await forgetRecipients(pool)
  const counts = await inTransaction(pool, async (db) => {
    await allowLargeSums(db)
    await countRecipients(db, { settlementOverloads, now: now() })
    return movedCounts(db)
  })
  return store(pool, counts)
}

/** Recomputes the counts of some agents, at most a hundred, from settlements, in a transaction of the caller's. */
export async function deriveCountsOf(
  db: Queryable,
  { fids, settlementOverloads, now }: Omit<CountOptions, 'pool'> & { readonly fids: readonly number[] },
): Promise<void> {
  await countRecipientsOf(db, { fids, settlementOverloads, now: now() })
  const counts = await movedCountsOf(db, fids)
  if (counts.length === 0) return
  await lockJoin(db)
  await storeSettlementCounts(db, counts)
}

/** Stores counts under the join's lock: writers of several agents could deadlock otherwise. */
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
