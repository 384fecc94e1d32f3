import type { Queryable } from '../pool.ts'
import { settlementChains } from './json-text.ts'
import { countedSettlements, newestSettlement } from './settlement-windows.ts'

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

/** Of the agents that a condition picks; the parameters $1 and $2 are the time and whether overloads count. */
function countsWhere(condition: string): string {
  const counted = countedSettlements({
    recipients: '(select distinct unnest(a.verified_addresses) as address from picked a)',
    few: true,
    amounts: false,
    overloads: '$2::boolean',
    windows: [
      { name: 'last_30d', since: `$1::timestamptz - interval '30 days'` },
      { name: 'ever', since: null },
    ],
  })
  return `
with picked as materialized (select fid, verified_addresses from agent where ${condition}),
paid as (
  select address, sum(last_30d) as last_30d, sum(ever) as ever from (${counted}) part group by address
)
select a.fid, coalesce(sum(paid.last_30d), 0)::bigint as "last30d", coalesce(sum(paid.ever), 0)::bigint as ever,
       ${newestSettlement('a.verified_addresses', settlementChains, '$2::boolean')} as "newestAt"
  from picked a
  left join paid on paid.address = any (a.verified_addresses)
 group by a.fid, a.verified_addresses
 order by a.fid`
}

/** Settlements to the verified addresses of the agents after a FID, in the order of FIDs. */
export async function countSettlementsAfter(
  db: Queryable,
  { after, limit, settlementOverloads, now }: CountOptions & { after: number; limit: number },
): Promise<SettlementCounts[]> {
  const { rows } = await db.query<SettlementCounts>({
    name: 'count-settlements-after',
    text: countsWhere('fid in (select fid from agent where fid > $3 order by fid limit $4)'),
    values: [now, settlementOverloads === 'all', after, limit],
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
    text: countsWhere('fid = any ($3::bigint[])'),
    values: [now, settlementOverloads === 'all', fids],
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
