import type pg from 'pg'
import { readingLimits } from '../../../limits.config.ts'
import { inTransaction, type Queryable } from '../../pool.ts'
import { allowLargeSums } from '../server/transaction-settings.ts'
import { isRolledUp, unrolledBlocks } from '../sql/block-states.ts'
import { isListed } from '../sql/selectors.ts'
import { windowStart } from '../sql/settlement-windows.ts'
import type { rankingMeasures } from '../time/kept-rankings.ts'

const { ranks: mostRanked, rankingDays: keptDays } = readingLimits
/** Rows of expired days deleted per round; a day takes several rounds. */
const forgottenPerRound = 20_000

interface RankingOptions {
  readonly pool: pg.Pool
  readonly now: () => Date
  readonly settlementOverloads: 'spec' | 'all'
}

/**
 * Recreates all rankings: for each period, measure and chain, with and without payments from an agent's own addresses.
 * The first round of a UTC day is remembered as the beginning of that day. Ranks that did not change are not written.
 */
export async function refreshRankings({ pool, now, settlementOverloads }: RankingOptions): Promise<void> {
  await inTransaction(pool, async (db) => {
    const at = now()
    await allowLargeSums(db)
    await db.query({ text: makeFigures, values: [at, settlementOverloads === 'all'] })
    await db.query('create index on ranking_figure (chain, own)')
    await db.query('analyze ranking_figure')
    await db.query(storeRankings)
    await noteRound(db, at)
    await forgetDays(db, at)
  })
}

const recent = ['last_7d', 'last_30d'] as const
const windows = [...recent, 'ever'] as const
type Window = (typeof windows)[number]
const periods: Record<string, Window> = { '7d': 'last_7d', '30d': 'last_30d', all: 'ever' }

/** Sort columns of each measure, before the FID. Agents for which the last column is zero are left out. */
const measures = {
  settlements: ['settlements', 'volume', 'volume', 'settlements'],
  volume: ['volume', 'settlements', 'settlements', 'settlements'],
  payers: ['payers', 'settlements', 'volume', 'settlements'],
  income: ['income', 'income_n', 'settlements', 'income_n'],
} as const satisfies Record<(typeof rankingMeasures)[number], readonly string[]>

const isIn = (time: string, window: Window) => (window === 'ever' ? 'true' : `${time} >= since.${window}`)
const counts = windows.flatMap((window) => [window, `${window}_amount`])
const figures = [...counts, ...windows.map((window) => `${window}_payers`)]
const each = <T extends string>(names: readonly T[], expression: (name: T) => string) =>
  names.map(expression).join(',\n         ')
const sumsOf = (names: readonly Window[], count: string, amount: string, time: string) =>
  each(
    names,
    (name) => `coalesce(sum(${count}) filter (where ${isIn(time, name)}), 0) as ${name},
         coalesce(sum(${amount}) filter (where ${isIn(time, name)}), 0) as ${name}_amount`,
  )

/**
 * What every agent was paid: on each chain and on all of them (chain ''), with and without payments from its own
 * addresses. A table of the transaction: a hundred rankings are read from it, each by its first ranks alone, where one
 * statement would sort all agents for each.
 *
 * Windows begin with a full hour, so that the hours that are summed up are all there is to them. These do not tell who
 * paid: payments from own addresses are few pairs, and are read again where such a pair was active in a window.
 * Income is of final blocks and of every kind, without what an agent paid itself, whether or not that counts beside it.
 */
const makeFigures = `
create temporary table ranking_figure on commit drop as
with ${unrolledBlocks},
since as materialized (
  select date_trunc('hour', ${windowStart.last_7d('$1::timestamptz')}, 'UTC') as last_7d,
         date_trunc('hour', ${windowStart.last_30d('$1::timestamptz')}, 'UTC') as last_30d
),
member as materialized (
  select fid, verified_addresses as addresses, unnest(verified_addresses) as address from agent
),
unrolled as materialized (
  select s.recipient, s.payer, u.chain, max(s.block_timestamp) as last_at,
         ${sumsOf(windows, '1', 's.amount', 's.block_timestamp')}
    from unrolled_blocks u
   cross join since
   cross join lateral (
     select s.recipient, s.payer, s.block_timestamp, s.amount
       from settlement s
      where s.chain = u.chain and s.block_number between u.from_block and u.to_block
        and ($2::boolean or ${isListed('s.selector')})
     offset 0
   ) s
   group by s.recipient, s.payer, u.chain
),
pair as materialized (
  select member.fid, p.chain, p.payer, p.payer = any (member.addresses) as is_own, p.n, p.amount, p.last_at
    from member
    join settlement_payer p on p.recipient = member.address
   where $2::boolean or not p.overload
),
fresh as materialized (
  select member.fid, unrolled.chain, unrolled.payer, unrolled.payer = any (member.addresses) as is_own, unrolled.last_at,
         ${each(counts, (name) => `unrolled.${name}`)}
    from member
    join unrolled on unrolled.recipient = member.address
),
own as (
  select member.fid, p.chain, ${sumsOf(recent, '1', 's.amount', 's.block_timestamp')}
    from member
   cross join since
    join settlement_payer p on p.recipient = member.address and p.payer = any (member.addresses)
                           and p.last_at >= since.last_30d and ($2::boolean or not p.overload)
   cross join lateral (
     select s.block_timestamp, s.amount
       from settlement s
      where s.chain = p.chain and s.recipient = p.recipient and s.payer = p.payer
        and p.overload <> ${isListed('s.selector')} and s.block_timestamp >= since.last_30d
        and s.block_number >= (select min(h.first_block) from settlement_hourly h
                                where h.recipient = p.recipient and h.chain = p.chain and h.hour >= since.last_30d)
        and ${isRolledUp('s')}
     offset 0
   ) s
   group by member.fid, p.chain
),
paid as materialized (
  select fid, coalesce(chain, '') as chain, is_own, ${each(counts, (name) => `sum(${name}) as ${name}`)}
    from (select fid, chain, is_own, ${each(recent, (name) => `0 as ${name}, 0 as ${name}_amount`)},
                 sum(n) as ever, sum(amount) as ever_amount
            from pair group by fid, chain, is_own
           union all
          select fid, chain, is_own, ${counts.join(', ')} from fresh
           union all
          select member.fid, h.chain, false, ${sumsOf(recent, 'h.n', 'h.amount', 'h.hour')}, 0, 0
            from member
           cross join since
            join settlement_hourly h on h.recipient = member.address and h.hour >= since.last_30d
                                    and ($2::boolean or not h.overload)
           group by member.fid, h.chain
           union all
          select own.fid, own.chain, is_own, ${each(recent, (name) => `sign * ${name}, sign * ${name}_amount`)}, 0, 0
            from own
           cross join (values (true, 1), (false, -1)) as one (is_own, sign)) part
   group by grouping sets ((fid, chain, is_own), (fid, is_own))
),
paying as materialized (
  select fid, chain, is_own, max(last_at) as newest_at,
         ${each(windows, (name) => `count(*) filter (where ${isIn('last_at', name)}) as ${name}_payers`)}
    from (select fid, coalesce(chain, '') as chain, is_own, payer, max(last_at) as last_at
            from (select fid, chain, is_own, payer, last_at from pair
                   union all
                  select fid, chain, is_own, payer, last_at from fresh) one
           group by grouping sets ((fid, chain, is_own, payer), (fid, is_own, payer))) payer
   cross join since
   group by fid, chain, is_own
),
both_sums as (select * from paid join paying using (fid, chain, is_own)),
settled as (
select fid, chain, counted.own, greatest(others.newest_at, case when counted.own then self.newest_at end) as newest_at,
       ${each(figures, (name) => `coalesce(others.${name}, 0) + case when counted.own then coalesce(self.${name}, 0) else 0 end as ${name}`)}
  from (select * from both_sums where not is_own) others
  full join (select * from both_sums where is_own) self using (fid, chain)
 cross join (values (true), (false)) as counted (own)
),
earned as (
  select fid, coalesce(chain, '') as chain, ${each(counts, (name) => `sum(${name}) as earned_${name}`)}
    from (select fid, chain, ${each(recent, (name) => `0 as ${name}, 0 as ${name}_amount`)}, n as ever, amount as ever_amount
            from income_agent where n > 0
           union all
          select h.fid, h.chain, ${sumsOf(recent, 'h.n', 'h.amount', 'h.hour')}, 0, 0
            from since
            join income_hour h on h.hour >= since.last_30d and h.flag = 'none'
           group by h.fid, h.chain) part
   where fid in (select fid from agent)
   group by grouping sets ((fid, chain), (fid))
)
select fid, chain, own, newest_at, ${each([...figures, ...counts.map((name) => `earned_${name}`)], (name) => `coalesce(${name}, 0) as ${name}`)}
  from settled
  full join (select * from earned cross join (values (true), (false)) as counted (own)) earned using (fid, chain, own)
 order by chain collate "C", own`

const key = ['period', 'measure', 'chain', 'own', 'rank']
const values = ['fid', 'settlements', 'volume', 'payers', 'income_n', 'income', 'newest_at']

const rankings = Object.entries(periods).flatMap(([period, window]) =>
  Object.entries(measures).map(([measure, [first, second, third, counted]]) => {
    const figureOf = {
      settlements: window,
      volume: `${window}_amount`,
      payers: `${window}_payers`,
      income_n: `earned_${window}`,
      income: `earned_${window}_amount`,
    }
    const order = [first, second, third].map((one) => figureOf[one])
    return `
    (select '${period}' as period, '${measure}' as measure, f.chain, f.own, f.fid, ${window} as settlements,
            ${window}_amount as volume, ${window}_payers as payers, ${figureOf.income_n} as income_n, ${figureOf.income} as income, newest_at,
            ${['first', 'second', 'third'].map((name, place) => `${order[place]} as ${name}`).join(', ')}
       from ranking_figure f
      where f.chain = of.chain and f.own = of.own and ${figureOf[counted]} > 0
      order by ${order.map((figure) => `${figure} desc`).join(', ')}, fid
      limit ${mostRanked})`
  }),
)

/** Ranks that have not changed are left out before: a conflict alone would lock each of them, and locks are writes. */
const storeRankings = `
with ranked as materialized (
  select place.*, row_number() over (partition by period, measure, place.chain, place.own
                                     order by first desc, second desc, third desc, fid) as rank
    from (select distinct chain, own from ranking_figure) of
   cross join lateral (
${rankings.join('\n     union all')}) place
),
kept as (select period, measure, chain, own, max(rank) as last_rank from ranked group by period, measure, chain, own),
gone as (
  delete from ranking r
   where not exists (select from kept
                      where (kept.period, kept.measure, kept.chain, kept.own) = (r.period, r.measure, r.chain, r.own)
                        and kept.last_rank >= r.rank)
)
insert into ranking (${key.join(', ')}, ${values.join(', ')})
select ${key.join(', ')}, ${values.map((name) => `ranked.${name}`).join(', ')}
  from ranked
  left join ranking r using (${key.join(', ')})
 where r.fid is null
    or (${values.map((name) => `r.${name}`).join(', ')})
       is distinct from (${values.map((name) => `ranked.${name}`).join(', ')})
    on conflict (${key.join(', ')}) do update
   set (${values.join(', ')}) = row(${values.map((name) => `excluded.${name}`).join(', ')})`

const dayOf = (time: string) => `(${time} at time zone 'UTC')::date`

/** Copies the rankings on the first round of a UTC day. A clock that goes back does not change past days. */
async function noteRound(db: Queryable, at: Date): Promise<void> {
  const { rowCount } = await db.query({
    name: 'note-ranking-round',
    text: `update ranking_round set counted_at = greatest(counted_at, $1) where day >= ${dayOf('$1::timestamptz')}`,
    values: [at],
  })
  if (rowCount !== 0) return
  await db.query({
    name: 'remember-rankings',
    text: `
with taken as (
  insert into ranking_round (day, taken_at, counted_at) values (${dayOf('$1::timestamptz')}, $1, $1) returning day
)
insert into ranking_day (day, period, measure, chain, own, fid, rank)
select taken.day, period, measure, chain, own, fid, rank from taken cross join ranking`,
    values: [at],
  })
}

async function forgetDays(db: Queryable, at: Date): Promise<void> {
  const isOld = `day < ${dayOf('$1::timestamptz')} - ${keptDays}`
  await db.query({
    name: 'forget-ranking-days',
    text: `
delete from ranking_day where ctid = any (array(
  select ctid from ranking_day where ${isOld} order by day limit ${forgottenPerRound}))`,
    values: [at],
  })
  await db.query({
    name: 'forget-ranking-rounds',
    text: `delete from ranking_round r where ${isOld} and not exists (select from ranking_day d where d.day = r.day)`,
    values: [at],
  })
}
