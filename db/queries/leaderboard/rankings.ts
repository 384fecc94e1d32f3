import type pg from 'pg'
import { readingLimits } from '../../../config/limits.ts'
import { inTransaction, type Queryable } from '../../pool.ts'
import { allFigureSteps } from '../rollup/agent-figures.ts'
import { columns } from '../rollup/figure-parts.ts'
import { allowLargeSums } from '../server/transaction-settings.ts'
import { periods, type rankingMeasures } from './leaderboard.ts'
import { exactFigureSteps } from './window-edges.ts'

const { ranks: mostRanked, rankingDays: keptDays } = readingLimits
/** Rows of expired days deleted per round; a day takes several rounds. */
const forgottenPerRound = 20_000

interface RankingOptions {
  readonly pool: pg.Pool
  readonly now: () => Date
  readonly settlementOverloads: 'spec' | 'all'
}

/**
 * Makes all rankings from the agents' figures: for each period, measure and chain, with and without payments from an agent's own addresses.
 * The first round of a UTC day is remembered as the beginning of that day. Ranks that did not change are not written.
 */
export async function refreshRankings({ pool, now, settlementOverloads }: RankingOptions): Promise<void> {
  await inTransaction(pool, async (db) => {
    const at = now()
    await allowLargeSums(db)
    await db.query({ text: copyFigures, values: [at, settlementOverloads === 'all'] })
    await db.query('create index on ranking_figure (chain, own)')
    await db.query('analyze ranking_figure')
    await db.query(storeRankings)
    await noteRound(db, at)
    await forgetDays(db, at)
  })
}

/** Sort columns of each measure, before the FID. Agents for which the last column is zero are left out. */
const measures = {
  settlements: ['settlements', 'volume', 'volume', 'settlements'],
  volume: ['volume', 'settlements', 'settlements', 'settlements'],
  payers: ['payers', 'settlements', 'volume', 'settlements'],
  income: ['income', 'income_n', 'settlements', 'income_n'],
  repeat_payers: ['repeat_payers', 'income', 'income_n', 'repeat_payers'],
} as const satisfies Record<(typeof rankingMeasures)[number], readonly string[]>

const repeats = Object.values(periods).map((window) => `repeat_${window}`)

/** Each ranking's window, which figure it goes by first, then, and which has to be more than zero. */
const orders = Object.entries(periods).flatMap(([period, window]) =>
  Object.entries(measures).map(([measure, [first, second, third, counted]]) => {
    const figureOf = {
      settlements: window,
      volume: `${window}_amount`,
      payers: `${window}_payers`,
      income_n: `earned_${window}`,
      income: `earned_${window}_amount`,
      repeat_payers: `repeat_${window}`,
    }
    const order = [first, second, third].map((one) => figureOf[one])
    return { period, measure, window, figureOf, order, first: order[0], counted: figureOf[counted] }
  }),
)

/**
 * A table of the transaction: a hundred rankings are read from it, each by its first ranks alone, where one statement would
 * sort all agents for each.
 *
 * It has only agents that may be among them: one below the lowest of the agents of a full ranking, as their figures are now,
 * cannot be in the new one.
 */
const copyFigures = `
create temporary table ranking_figure on commit drop as
${allFigureSteps},${exactFigureSteps},
demanded as not materialized (
  select f.*, ${repeats.map((name) => `coalesce(d.${name}, 0) as ${name}`).join(', ')}
    from exact f
    left join agent_demand d using (fid, chain)
),
known as materialized (
  select * from demanded where fid in (select fid from figure union select fid from ranking)
),
least_ranked as materialized (
  select r.chain, r.own, ${orders
    .map(({ period, measure, first, counted }, place) => {
      const filter = `filter (where r.period = '${period}' and r.measure = '${measure}' and known.${counted} > 0)`
      return `case when count(*) ${filter} = ${mostRanked} then min(known.${first}) ${filter} end as least_${place}`
    })
    .join(',\n         ')}
    from ranking r
    join known using (fid, chain, own)
   group by r.chain, r.own
)
select ${columns}, ${repeats.join(', ')}
  from demanded
  left join least_ranked l using (chain, own)
 where ${orders.map(({ first, counted }, place) => `${counted} > 0 and ${first} >= coalesce(l.least_${place}, 0)`).join('\n    or ')}`

const key = ['period', 'measure', 'chain', 'own', 'rank']
const values = [
  'fid',
  'settlements',
  'volume',
  'payers',
  'income_n',
  'income',
  'repeat_payers',
  'newest_at',
  'last_30d',
  'ever',
]

const rankings = orders.map(
  ({ period, measure, window, figureOf, order, counted }) => `
    (select '${period}' as period, '${measure}' as measure, chain, own, fid, settlements, volume, payers, income_n, income, repeat_payers, newest_at, last_30d, ever,
            row_number() over (order by first desc, second desc, third desc, fid) as rank
       from (select f.chain, f.own, f.fid, ${window} as settlements, ${window}_amount as volume, ${window}_payers as payers,
                    ${figureOf.income_n} as income_n, ${figureOf.income} as income, ${figureOf.repeat_payers} as repeat_payers, newest_at, f.last_30d, f.ever,
                    ${['first', 'second', 'third'].map((name, place) => `${order[place]} as ${name}`).join(', ')}
               from ranking_figure f
              where f.chain = of.chain and f.own = of.own and ${counted} > 0
              order by ${order.map((figure) => `${figure} desc`).join(', ')}, fid
              limit ${mostRanked}) best)`,
)

/** Ranks that have not changed are left out before: a conflict alone would lock each of them, and locks are writes. */
const storeRankings = `
with ranked as materialized (
  select place.*
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

/**
 * Copies the rankings on the first round of a UTC day. Days that a clock came to which was set back since are forgotten: they
 * are still to come.
 */
async function noteRound(db: Queryable, at: Date): Promise<void> {
  await db.query({
    name: 'forget-later-rankings',
    text: `
with later as (delete from ranking_round where day > ${dayOf('$1::timestamptz')} returning day)
delete from ranking_day where day in (select day from later)`,
    values: [at],
  })
  const { rowCount } = await db.query({
    name: 'note-ranking-round',
    text: `update ranking_round set counted_at = $1 where day = ${dayOf('$1::timestamptz')}`,
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
