import type { Queryable } from '../pool.ts'
import { shownSelectors } from './selectors.ts'

/** What an agent received on one UTC day. */
export interface SettlementDay {
  /** YYYY-MM-DD. */
  readonly day: string
  readonly count: number
  /** Base units, decimal digits. */
  readonly amount: string
}

/** The last days up to today, the oldest first, days without a settlement included. */
export async function agentSettlementDays(
  db: Queryable,
  { fid, settlementOverloads, days }: { fid: number; settlementOverloads: 'spec' | 'all'; days: number },
): Promise<SettlementDay[]> {
  const { rows } = await db.query<SettlementDay>({
    name: 'agent-settlement-days',
    text: `
with day as (
  select (now() at time zone 'utc')::date - back as day from generate_series(0, $2::int - 1) as back
),
paid as (
  select (s.block_timestamp at time zone 'utc')::date as day, count(*) as count, sum(s.amount) as amount
    from agent a
    join settlement s on s.recipient = any (a.verified_addresses) and s.selector = any ($3::bytea[])
   where a.fid = $1 and s.block_timestamp >= (select min(day) from day)::timestamp at time zone 'utc'
   group by 1
)
select to_char(day, 'YYYY-MM-DD') as day, coalesce(count, 0) as count, coalesce(amount, 0)::text as amount
  from day
  left join paid using (day)
 order by day`,
    values: [fid, days, shownSelectors(settlementOverloads)],
  })
  return rows
}
