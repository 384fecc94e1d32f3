import type { Queryable } from '../pool.ts'
import { shownSelectors } from './selectors.ts'

export interface SettlementCounts {
  readonly fid: number
  readonly last30d: number
  readonly ever: number
  readonly newestAt: Date | null
}

export interface CountOptions {
  readonly settlementOverloads: 'spec' | 'all'
  readonly now: Date
}

const columns = `
select a.fid,
       count(s.block_timestamp) filter (where s.block_timestamp > $1::timestamptz - interval '30 days') as "last30d",
       count(s.block_timestamp) as ever,
       max(s.block_timestamp) as "newestAt"
  from agent a
  left join settlement s on s.recipient = any (a.verified_addresses) and s.selector = any ($2::bytea[])`

/** Settlements to the verified addresses of the agents after a FID, in the order of FIDs. */
export async function countSettlementsAfter(
  db: Queryable,
  { after, limit, settlementOverloads, now }: CountOptions & { after: number; limit: number },
): Promise<SettlementCounts[]> {
  const { rows } = await db.query<SettlementCounts>({
    name: 'count-settlements-after',
    text: `${columns}
 where a.fid in (select fid from agent where fid > $3 order by fid limit $4)
 group by a.fid
 order by a.fid`,
    values: [now, shownSelectors(settlementOverloads), after, limit],
  })
  return rows
}

/** The same of some agents. */
export async function countSettlementsOf(
  db: Queryable,
  { fids, settlementOverloads, now }: CountOptions & { fids: readonly number[] },
): Promise<SettlementCounts[]> {
  const { rows } = await db.query<SettlementCounts>({
    name: 'count-settlements-of',
    text: `${columns}
 where a.fid = any ($3::bigint[])
 group by a.fid
 order by a.fid`,
    values: [now, shownSelectors(settlementOverloads), fids],
  })
  return rows
}

/** Stores counts for sorting. Unchanged: nothing is written. Returns how many agents have others now. */
export async function storeSettlementCounts(db: Queryable, counts: readonly SettlementCounts[]): Promise<number> {
  const { rowCount } = await db.query({
    name: 'store-settlement-counts',
    text: `
update agent a
   set settlements_30d = c.last30d, settlements_all = c.ever, last_settlement_at = c.newest_at
  from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::timestamptz[]) as c (fid, last30d, ever, newest_at)
 where a.fid = c.fid
   and (a.settlements_30d, a.settlements_all, a.last_settlement_at) is distinct from (c.last30d, c.ever, c.newest_at)`,
    values: [
      counts.map(({ fid }) => fid),
      counts.map(({ last30d }) => last30d),
      counts.map(({ ever }) => ever),
      counts.map(({ newestAt }) => newestAt),
    ],
  })
  return rowCount ?? 0
}
