import type { Queryable } from '../../pool.ts'
import { since, thisHour } from '../rollup/figure-parts.ts'
import { unrolledBlocks } from '../sql/block-states.ts'
import { byOthers, haveOthersPaid, isRing, payingPairs } from './paying-pairs.ts'

// Demand: how many pay an agent, and how many of them come back. Of payers that are not the agent itself, without what goes
// round, of every kind of payment, who paid dollars and did not get all of them back, in blocks that are rolled up. All of
// it follows from the sums by payer.

/**
 * Makes agents due whose own addresses paid them while they were not theirs yet, on the chains of keys, behind the agent in each, over
 * `most` addresses of agents. Returns the keys of those behind.
 */
export async function markArchivedOwners(db: Queryable, keys: readonly string[], most: number): Promise<string[]> {
  const { rows } = await db.query<{ key: string }>({
    name: 'mark-archived-owners',
    text: markText,
    values: [keys, most],
  })
  return rows.map(({ key }) => key)
}

const markText = `
with agent as materialized (
  select asked.chain, few.fid, count(*) as n
    from (select split_part(key, ':', 1) as chain, split_part(key, ':', 2)::bigint as behind from unnest($1::text[]) key) asked
   cross join lateral (
     select fid from income_owner where fid > asked.behind order by fid, address, because, from_at limit $2) few
   group by 1, 2
),
marked as (
  insert into due (kind, key)
  select distinct 'demand', agent.fid::text
    from agent
   cross join lateral (
     select address from income_owner where fid = agent.fid and from_at > '-infinity' offset 0) own
   where exists (
     select from income_address i
      cross join lateral (
        select from settlement_payer
         where (recipient, payer, chain) >= (i.address, own.address, agent.chain)
           and (recipient, payer, chain) <= (i.address, own.address, agent.chain)
         offset 0) paid
      where i.fid = agent.fid)
)
select chain || ':' || max(fid) as key from agent group by chain having sum(n) = $2`

/** Of a payer: longer than this between the first and the newest payment, and it has returned. */
const returnedAfter = `interval '1 day'`

const values = [
  'payers',
  'repeat_last_7d',
  'repeat_last_30d',
  'repeat_ever',
  'new_last_30d',
  'returned',
  'median_gap',
  'amount',
  'largest_amount',
]
const columns = ['fid', 'chain', ...values, 'derived_in'].join(', ')
/** Whether the values of `d` are of windows that begin later than now: the clock was set back. */
const isOfLater = `d.derived_in > ${thisHour}`
const shared = (row: string) => values.map((name) => `${row}.${name}`).join(', ')
/** When the oldest of some times leaves a window of so many days, whose beginning goes from full hour to full hour. */
const endOf = (days: number, time: string, condition: string) =>
  `date_trunc('hour', min(${time}) filter (where ${condition}), 'UTC') + interval '${days} days 1 hour'`

const derive = `
with ${unrolledBlocks},${since},${payingPairs({ fid: '$2', isBounded: false })},
-- Who paid dollars: what is of nothing, of tokens that anybody makes, or goes back by a refund costs its sender no more than the
-- gas. Of who was the agent's own for a time, what it paid then is left out, and what is left may all have gone back.
payer as materialized (
  select chain, payer, sum(n) ${byOthers} as n, sum(amount) ${byOthers} as amount, min(first_at) ${byOthers} as first_at,
         max(last_at) ${byOthers} as last_at
    from pair
   where pair.amount <> 0 and not ${isRing}
   group by grouping sets ((chain, payer), (payer))
  having ${haveOthersPaid}
),
counted as materialized (
  select payer.*, since.*, n > 1 as paid_again from payer cross join since
),
demand as materialized (
  select $2::bigint as fid, coalesce(chain, '') as chain, count(*) as payers,
         count(*) filter (where paid_again and last_at >= last_7d) as repeat_last_7d,
         count(*) filter (where paid_again and last_at >= last_30d) as repeat_last_30d,
         count(*) filter (where paid_again) as repeat_ever,
         count(*) filter (where first_at >= last_30d) as new_last_30d,
         count(*) filter (where last_at >= first_at + ${returnedAfter}) as returned,
         round(percentile_cont(0.5) within group (order by extract(epoch from last_at - first_at)::float8 / (n - 1)::float8)
               filter (where paid_again))::bigint as median_gap,
         sum(amount) as amount, max(amount) as largest_amount
    from counted
   group by chain
),
gone as (
  delete from agent_demand d where d.fid = $2 and d.chain not in (select chain from demand)
),
stored as (
  insert into agent_demand (${columns})
  select n.fid, n.chain, ${shared('n')}, ${thisHour}
    from demand n
    left join agent_demand d using (fid, chain)
   where d.fid is null or ${isOfLater} or (${shared('d')}) is distinct from (${shared('n')})
      on conflict (fid, chain) do update
     set (${values.join(', ')}, derived_in) = row(${shared('excluded')}, excluded.derived_in)
)
select least(${endOf(7, 'last_at', 'paid_again and last_at >= last_7d')},
             ${endOf(30, 'last_at', 'paid_again and last_at >= last_30d')},
             ${endOf(30, 'first_at', 'first_at >= last_30d')}) as "dueAt"
  from counted
 where chain is null`

/** Makes the stored demand of an agent what is rolled up. Returns when it is another by time alone; null: it never is. */
export async function deriveDemandOf(db: Queryable, fid: number, now: Date): Promise<Date | null> {
  const { rows } = await db.query<{ dueAt: Date | null }>({ name: 'derive-demand', text: derive, values: [now, fid] })
  return rows[0]?.dueAt ?? null
}

/** Makes due the agents whose demand was derived by a clock that was set back since. */
export async function markLaterDemand(db: Queryable, now: Date): Promise<void> {
  await db.query({
    name: 'mark-later-demand',
    text: `insert into due (kind, key) select distinct 'demand', fid::text from agent_demand d where ${isOfLater}`,
    values: [now],
  })
}

/** SQL: JSON object of a row `d` of agent_demand. */
export const demandObject = `json_build_object(
    'payers', d.payers,
    'new_payers_30d', d.new_last_30d,
    'repeat_payers_30d', d.repeat_last_30d,
    'repeat_payers_all', d.repeat_ever,
    'payers_returned', d.returned,
    'median_seconds_between_payments', d.median_gap,
    'largest_payer_share', round(d.largest_amount / nullif(d.amount, 0), 6))`
