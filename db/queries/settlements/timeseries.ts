import type { ChainName } from '../../../config/chains.ts'
import type { Queryable } from '../../pool.ts'
import { isArchived, isRolledUp, unrolledBlocks } from '../sql/block-states.ts'
import { dollars, isoTime } from '../sql/json-text.ts'
import { isListed } from '../sql/settlement-filter.ts'
import type { Interval } from './buckets.ts'

interface Series {
  /** Agent whose settlements are counted; null: the settlements of everybody. */
  readonly fid: number | null
  /** Starts of the buckets, at least one, in milliseconds on full hours, ascending; the last bucket ends at `end`. */
  readonly starts: readonly number[]
  readonly end: number
  /** Calendar interval of the buckets, for which payers may have been counted in advance; absent: none. */
  readonly length?: Interval
  /** Null: all. */
  readonly chain: readonly ChainName[] | null
  readonly settlementOverloads: 'spec' | 'all'
  /** Settlements in the window up to which payers and the median are computed on request, which reads each of them. */
  readonly payersUpTo: number
}

/**
 * JSON array of the buckets' sums, ascending, empty ones included. Rolled up hours give counts and amounts, blocks that
 * are not rolled up their settlements. How many paid, and the amount in the middle, is what the job has counted when the
 * window has more than `payersUpTo` settlements, or archived ones; null: it has not, of a bucket with these settlements.
 */
export async function settlementSeries(db: Queryable, series: Series): Promise<string> {
  const { fid, starts, end, length, chain, settlementOverloads, payersUpTo } = series
  const times = starts.map((ms) => new Date(ms).toISOString())
  const { rows } = await db.query<{ points: string }>({
    name: fid === null ? 'all-series' : 'agent-series',
    text: fid === null ? ofAll : ofAgent,
    values: [times, new Date(end).toISOString(), chain, settlementOverloads === 'all', payersUpTo, length, fid ?? 0],
  })
  return rows[0]?.points ?? '[]'
}

const first = '($1::timestamptz[])[1]'
const chains = (column: string) => `($3::text[] is null or ${column} = any ($3))`
const isShown = `($4::boolean or ${isListed('s.selector')})`
const inWindow = `s.block_timestamp >= ${first} and s.block_timestamp < $2`
const bucketOf = (time: string) => `width_bucket(${time}, $1::timestamptz[])`

/** `hours`: rolled up sums `h` of the window; `unrolled`: its other settlements; `paid`: bucket, payer and amount of each row. */
function seriesOf(parts: {
  recipients: string
  addresses: string
  hours: string
  unrolled: string
  paid: string
}): string {
  return `
with ${unrolledBlocks},
${parts.recipients}
hours as materialized (${parts.hours}),
unrolled as materialized (${parts.unrolled}),
sums as (
  select bucket, sum(n) as n, sum(amount) as amount, bool_or(archived) as archived
    from (select ${bucketOf('hour')} as bucket, n, amount, ${isArchived('hours.chain', 'hours.hour')} as archived from hours
           union all
          select ${bucketOf('block_timestamp')}, 1, amount, false from unrolled) part
   group by bucket
),
countable as (select coalesce(sum(n), 0) <= $5::bigint as yes from sums),
payers as (
  select bucket, count(distinct payer) as n, percentile_disc(0.5) within group (order by amount) as median
    from (${parts.paid}
           union all
          select ${bucketOf('block_timestamp')}, payer, amount from unrolled) paid
   where (select yes from countable)
   group by bucket
)
select coalesce(json_agg(json_build_object(
         'start', ${isoTime('one.start')},
         'settlements', coalesce(sums.n, 0)::bigint,
         'amount_usdc', ${dollars('coalesce(sums.amount, 0)')},
         'unique_payers', case when sums.n is null then 0 when countable.yes and not sums.archived then coalesce(payers.n, 0) else kept.payers end,
         'median_usdc', ${dollars('case when countable.yes and not sums.archived then payers.median else kept.median end')}
       ) order by one.start), '[]')::text as points
  from unnest($1::timestamptz[]) with ordinality as one (start, bucket)
 cross join countable
  left join sums using (bucket)
  left join payers using (bucket)
  left join series_payers kept
    on (not countable.yes or sums.archived) and kept.fid = $7::bigint and kept.length = $6::text and kept.start = one.start
   and kept.chain = case when $3::text[] is null then '' when cardinality($3::text[]) = 1 then ($3::text[])[1] end
   and kept.overloads = $4::boolean and kept.settlements = sums.n and kept.addresses = ${parts.addresses}`
}

/** Bucket, payer and amount of each settlement of rolled up hours, whose blocks are read again; `hours`: those of some recipients. */
const paidIn = (hours: string) => `
  select ${bucketOf('h.hour')} as bucket, s.payer, s.amount
    from (${hours}) h
   cross join lateral (
     select s.payer, s.amount from settlement s
      where s.recipient = h.recipient and s.chain = h.chain and s.block_number between h.first_block and h.last_block
        and h.overload <> ${isListed('s.selector')}
        and ${isRolledUp('s')}
     offset 0
   ) s`

/** `offset 0` has each address looked up: the planner would read what everybody received. */
const ofAgent = seriesOf({
  recipients: 'recipient as materialized (select unnest(verified_addresses) as address from agent where fid = $7),',
  addresses: '(select verified_addresses from agent where fid = $7)',
  hours: `
  select h.*
    from recipient
   cross join lateral (
     select h.* from settlement_hourly h
      where h.recipient = recipient.address and h.hour >= ${first} and h.hour < $2
        and ($4::boolean or not h.overload) and ${chains('h.chain')}
     offset 0
   ) h`,
  unrolled: `
  select s.*
    from recipient
   cross join unrolled_blocks u
   cross join lateral (
     select s.payer, s.block_timestamp, s.amount from settlement s
      where s.recipient = recipient.address and s.chain = u.chain
        and s.block_number between u.from_block and u.to_block and ${isShown} and ${inWindow}
     offset 0
   ) s
   where ${chains('u.chain')}`,
  paid: paidIn('select * from hours where (select yes from countable)'),
})

/** Who paid in the window is read from the hours of its recipients. */
const ofAll = seriesOf({
  recipients: '',
  addresses: "'{}'::bytea[]",
  hours: `
  select h.* from settlement_hour_total h
   where h.hour >= ${first} and h.hour < $2 and h.n > 0 and ($4::boolean or not h.overload) and ${chains('h.chain')}`,
  unrolled: `
  select s.*
    from unrolled_blocks u
   cross join lateral (
     select s.payer, s.block_timestamp, s.amount from settlement s
      where s.chain = u.chain and s.block_number between u.from_block and u.to_block and ${isShown} and ${inWindow}
     offset 0
   ) s
   where ${chains('u.chain')}`,
  paid: paidIn(`
      select h.* from settlement_hourly h
       where (select yes from countable) and h.hour >= ${first} and h.hour < $2
         and ($4::boolean or not h.overload) and ${chains('h.chain')}`),
})

/**
 * Until when all settlements and other payments of some chains are rolled up, of the one that is least far: the time of
 * the first that is not, or of the newest block when there is none. Null: of a chain that is not known.
 */
export async function completeUntil(db: Queryable, chain: readonly ChainName[] | null): Promise<string | null> {
  const { rows } = await db.query<{ at: string | null }>({
    name: 'series-complete-until',
    text: `
select case when bool_and(at is not null) then ${isoTime('min(at)')} end as at
  from (select least(state.indexed_at, (
                 select s.block_timestamp from settlement s
                  where s.chain = r.chain and s.block_number >= r.next_block order by s.block_number limit 1), (
                 select p.block_timestamp from payment p
                  where p.chain = r.chain and p.block_number >= r.next_block order by p.block_number limit 1)) as at
          from settlement_rollup r
          join chain_state state using (chain)
         where $1::text[] is null or r.chain = any ($1)
         union all
        select (select s.block_timestamp from settlement s
                 where s.chain = u.chain and s.block_number < u.from_block order by s.block_number desc limit 1)
          from settlement_unrolled u
          join settlement_rollup r using (chain)
         where u.from_block < r.next_block and ($1::text[] is null or u.chain = any ($1))) part`,
    values: [chain],
  })
  return rows[0]?.at ?? null
}
