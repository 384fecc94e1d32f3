import type { Queryable } from '../../pool.ts'
import { isListed } from '../sql/selectors.ts'

/** What an agent received on one UTC day. */
export interface SettlementDay {
  /** YYYY-MM-DD. */
  readonly day: string
  readonly count: number
  /** Base units, decimal digits. */
  readonly amount: string
}

/**
 * The last days up to today, the oldest first, days without a settlement included. Days are whole hours, so they come
 * from the roll-up, and blocks that are not rolled up from the settlements. `offset 0` has each address looked up: the
 * planner would read what everybody received in these days.
 */
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
recipient as materialized (select unnest(verified_addresses) as address from agent where fid = $1),
part as (
  select (h.hour at time zone 'utc')::date as day, h.n as count, h.amount
    from recipient
   cross join lateral (
     select h.hour, h.n, h.amount
       from settlement_hourly h
      where h.recipient = recipient.address
        and h.hour >= (select min(day) from day)::timestamp at time zone 'utc' and ($3::boolean or not h.overload)
     offset 0
   ) h
   union all
  select (s.block_timestamp at time zone 'utc')::date, 1, s.amount
    from recipient
   cross join settlement_unrolled u
   cross join lateral (
     select s.block_timestamp, s.amount
       from settlement s
      where s.recipient = recipient.address and s.chain = u.chain
        and s.block_number between u.from_block and u.to_block
        and ($3::boolean or ${isListed('s.selector')})
        and s.block_timestamp >= (select min(day) from day)::timestamp at time zone 'utc'
     offset 0
   ) s
),
paid as (select day, sum(count) as count, sum(amount) as amount from part group by day)
select to_char(day, 'YYYY-MM-DD') as day, coalesce(count, 0)::bigint as count, coalesce(amount, 0)::text as amount
  from day
  left join paid using (day)
 order by day`,
    values: [fid, days, settlementOverloads === 'all'],
  })
  return rows
}
