import type pg from 'pg'
import { profileLimits, rowLimits } from '../../../limits.config.ts'
import { inTransaction, type Queryable } from '../../pool.ts'
import { allowLargeSums } from '../server/transaction-settings.ts'
import { payersOf } from '../sql/payers.ts'
import { busiestAgents, type CountedWindow, windowStart } from '../sql/settlement-windows.ts'

/** Age in milliseconds at which an agent's stored payer counts are refreshed. */
const staleMs = 60_000
/** Time budget of a round, in milliseconds, after which it begins no further count. */
const roundMs = 30_000

interface PayerOptions {
  readonly pool: pg.Pool
  readonly now: () => Date
  readonly settlementOverloads: 'spec' | 'all'
  /** Settlements up to which payers are counted on request; set by tests only. */
  readonly mostCountedAtOnce?: number
}

/**
 * Counts the payers of the agents with many settlements that a leaderboard may show, those first that were never counted or
 * longest ago. Returns how many agents were counted.
 */
export async function refreshPayers(options: PayerOptions): Promise<number> {
  const { pool, now, settlementOverloads, mostCountedAtOnce: most = profileLimits.payersCountedAtOnce } = options
  const overloads = settlementOverloads === 'all'
  const deadline = performance.now() + roundMs
  const stale = new Date(now().getTime() - staleMs)
  const due = await largeAgents(pool, { most, overloads, stale })
  let counted = 0
  for (const fid of due) {
    if (performance.now() > deadline) break
    await inTransaction(pool, async (db) => {
      await allowLargeSums(db)
      await countPayers(db, { fid, overloads, now: now() })
    })
    counted++
  }
  return counted
}

const windows: readonly CountedWindow[] = ['settlements_7d', 'settlements_30d', 'settlements_all']

/** FIDs to count, never counted or stalest first. Deletes stored counts of agents no longer large or shown. */
async function largeAgents(
  db: Queryable,
  { most, overloads, stale }: { most: number; overloads: boolean; stale: Date },
): Promise<number[]> {
  const { rows } = await db.query<{ fid: number }>({
    name: 'large-agents',
    text: `
with large as materialized (
  select a.fid, a.verified_addresses
    from (${windows.map((window) => `(${busiestAgents(window, '$4::int')})`).join(' union ')}) a
   where (select sum(t.n) from settlement_total t where t.recipient = any (a.verified_addresses)) > $1
),
gone as (delete from agent_payers where fid not in (select fid from large))
select large.fid::float8 as fid
  from large
  left join agent_payers kept on kept.fid = large.fid and kept.addresses = large.verified_addresses
                             and kept.overloads = $2
 where kept.fid is null or kept.counted_at <= $3
 order by kept.counted_at nulls first, large.fid`,
    values: [most, overloads, stale, rowLimits.leaderboard.maximum],
  })
  return rows.map(({ fid }) => fid)
}

async function countPayers(
  db: Queryable,
  { fid, overloads, now }: { fid: number; overloads: boolean; now: Date },
): Promise<void> {
  const payers = payersOf({ addresses: 'a.verified_addresses', overloads: '$2::boolean', since: null })
  await db.query({
    name: 'count-payers',
    text: `
insert into agent_payers as kept (fid, addresses, overloads, last_7d, last_30d, ever, counted_at)
select a.fid, a.verified_addresses, $2, counted.last_7d, counted.last_30d, counted.ever, $3
  from agent a
 cross join lateral (
   select count(*) filter (where last_at > ${windowStart.last_7d('$3::timestamptz')}) as last_7d,
          count(*) filter (where last_at > ${windowStart.last_30d('$3::timestamptz')}) as last_30d,
          count(*) as ever
     from (${payers}) payer) counted
 where a.fid = $1
    on conflict (fid) do update
   set (addresses, overloads, last_7d, last_30d, ever, counted_at)
       = (excluded.addresses, excluded.overloads, excluded.last_7d, excluded.last_30d, excluded.ever, excluded.counted_at)`,
    values: [fid, overloads, now],
  })
}
