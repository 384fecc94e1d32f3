import type pg from 'pg'
import { inTransaction } from '../db/pool.ts'
import { lockJoin } from '../db/queries/join-events.ts'
import {
  countSettlementsAfter,
  countSettlementsOf,
  type SettlementCounts,
  storeSettlementCounts,
} from '../db/queries/settlement-counts.ts'

export interface CountOptions {
  readonly pool: pg.Pool
  readonly now: () => Date
  readonly settlementOverloads: 'spec' | 'all'
}

const agentsPerPage = 200

/** Brings the counters of all agents to what the settlements say, page by page. Returns how many moved. */
export async function refreshCounts({ pool, now, settlementOverloads }: CountOptions): Promise<number> {
  let moved = 0
  for (let after = 0; ; ) {
    const page = { after, limit: agentsPerPage, settlementOverloads, now: now() }
    const counts = await countSettlementsAfter(pool, page)
    moved += await store(pool, counts)
    const last = counts.at(-1)
    if (!last || counts.length < agentsPerPage) return moved
    after = last.fid
  }
}

/** The same of some agents. */
export async function refreshCountsOf(fids: readonly number[], options: CountOptions): Promise<number> {
  const { pool, now, settlementOverloads } = options
  return store(pool, await countSettlementsOf(pool, { fids, settlementOverloads, now: now() }))
}

/** Under the join's lock: two transactions that write several agents must not do it in different orders. */
function store(pool: pg.Pool, counts: readonly SettlementCounts[]): Promise<number> {
  return inTransaction(pool, async (db) => {
    await lockJoin(db)
    return storeSettlementCounts(db, counts)
  })
}
