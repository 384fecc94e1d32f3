import type { Queryable } from '../../pool.ts'
import { chosen, chosenValue, everyone, type LeftOut, listWithoutBroken } from '../sql/broken-rows.ts'
import { dollars, isoTime, members } from '../sql/json-text.ts'
import { leanFields, leanRowWith } from '../sql/lean-row.ts'

/**
 * Measures of rankings. Ties go by settlements, then volume, then the lowest FID; for income first by payments, for repeat
 * payers by income.
 */
export const rankingMeasures = ['settlements', 'volume', 'payers', 'income', 'repeat_payers'] as const

/** Rolling windows that agents are ranked over, and the columns of `agent_figure` that have each. */
export const periods = { '7d': 'last_7d', '30d': 'last_30d', all: 'ever' } as const
type LeaderboardPeriod = keyof typeof periods
export const leaderboardPeriods = Object.keys(periods) as LeaderboardPeriod[]

interface Ranking {
  readonly period: LeaderboardPeriod
  readonly by: (typeof rankingMeasures)[number]
  /** Chain name; null: all chains together; undefined: the requested chain does not exist, so nothing matches. */
  readonly chain: string | null | undefined
  /** Whether payments from an agent's own addresses are left out. */
  readonly excludeSelf: boolean
  /** Compare with the ranking at the start of the UTC day so many days ago; null: no comparison. */
  readonly daysAgo: number | null
  readonly limit: number
  /** Current time, in milliseconds since 1970. */
  readonly now: number
  readonly leftOut: LeftOut
}

/**
 * JSON of `GET /api/leaderboard`: the ranking that the enrichment job made in its last round, at `generated_at`, compared
 * with an earlier one on request. Agents without what they are ranked by are left out.
 */
export async function leaderboard(db: Queryable, ranking: Ranking): Promise<string> {
  const { period, by, chain, excludeSelf, daysAgo, limit, now, leftOut } = ranking
  // No chain is called `-`; the empty name stands for all chains together.
  const values = [period, limit, by, chain === null ? '' : (chain ?? '-'), !excludeSelf]
  const day = daysAgo === null ? [] : [new Date(now - daysAgo * 86_400_000).toISOString().slice(0, 10)]
  const isOfAll = chain === null && !excludeSelf
  const shape = { by, isOfAll, isCompared: daysAgo !== null }
  return listWithoutBroken({
    read: async (choice) => {
      const { rows } = await db.query<{ body: string }>({
        name: choice === everyone ? `ranking-${Object.values(shape).join('-')}` : undefined,
        text: `${answerOf(shape)}${chosen(choice, 'ranked.fid', `$${values.length + day.length + 1}`)}`,
        values: [...values, ...day, ...chosenValue(choice)],
      })
      return rows[0]?.body ?? ''
    },
    fids: async () => {
      const { rows } = await db.query<{ fid: number }>({
        text: `select fid from (${ranks}) ranked order by rank`,
        values,
      })
      return rows.map(({ fid }) => fid)
    },
    leftOut,
  })
}

/** An agent that has left the index since the round leaves its rank empty until the next one. */
const ranks = `
  select r.*
    from ranking r
   where r.period = $1::text and r.measure = $3::text and r.chain = $4::text and r.own = $5::boolean and r.rank <= $2::int`

const income = `
    'income_usdc', ${dollars('ranked.income')},
    'income_payments', ranked.income_n,`
/** What is shown of an agent only where it is ranked by it. */
const shownBy: Partial<Record<Ranking['by'], string>> = {
  income,
  repeat_payers: `${income}
    'repeat_payers', ranked.repeat_payers,`,
}

/** What an answer's text depends on. */
interface Shape {
  readonly by: Ranking['by']
  /** Whether all settlements of an agent count: then its row shows what was counted with the rank. */
  readonly isOfAll: boolean
  readonly isCompared: boolean
}

function answerOf({ by, isOfAll, isCompared }: Shape): string {
  const leanRow = isOfAll
    ? leanRowWith({ last30d: 'ranked.last_30d', ever: 'ranked.ever', newestAt: 'ranked.newest_at' })
    : members(leanFields)
  const counted =
    by === 'settlements' && isOfAll && !isCompared ? '' : `,\n  'counted', exists (select from ranking_round)`
  const before = isCompared
    ? `
    'previous_rank', before.rank,
    'rank_change', before.rank - ranked.rank,`
    : ''
  return `
select json_build_object(
  'period', $1::text,
  'limit', $2::int,
  'count', count(*),
  'generated_at', ${isoTime('coalesce((select max(counted_at) from ranking_round), now())')}${counted},${
    isCompared
      ? `
  'compared_at', (select ${isoTime('taken_at')} from ranking_round where day = $6::date),`
      : ''
  }
  'agents', coalesce(json_agg(json_build_object(
    'rank', ranked.rank, ${leanRow},
    'settlement_count', ranked.settlements,
    'volume_usdc', ${dollars('ranked.volume')},
    'unique_payers', ranked.payers,${shownBy[by] ?? ''}${before}
    'last_settlement_at', ${isoTime('ranked.newest_at')}
  ) order by ranked.rank), '[]')
)::text as body
  from (${ranks}) ranked
  join agent a using (fid)${
    isCompared
      ? `
  left join ranking_day before
    on before.day = $6::date and before.period = ranked.period and before.measure = ranked.measure
   and before.chain = ranked.chain and before.own = ranked.own and before.fid = ranked.fid`
      : ''
  }
`
}
