import type { Queryable } from '../pool.ts'
import { dollars, isoTime } from './json-text.ts'
import { leanRow } from './lean-row.ts'
import { shownSelectors } from './selectors.ts'

/** Rolling windows, as Postgres intervals; null: since the first block. */
const windows = { '7d': '7 days', '30d': '30 days', all: null } as const

export type LeaderboardPeriod = keyof typeof windows
export const leaderboardPeriods = Object.keys(windows) as LeaderboardPeriod[]

/**
 * JSON of `GET /api/leaderboard`: agents by settlements in the window, then volume, then fid ascending. Agents without
 * one are left out.
 *
 * Payers are counted for the ranked agents alone: a distinct count of every agent's would sort the whole window.
 */
export async function leaderboard(
  db: Queryable,
  {
    period,
    limit,
    settlementOverloads,
  }: { period: LeaderboardPeriod; limit: number; settlementOverloads: 'spec' | 'all' },
): Promise<string> {
  const { rows } = await db.query<{ body: string }>({
    name: 'leaderboard',
    text,
    values: [period, limit, windows[period], shownSelectors(settlementOverloads)],
  })
  return rows[0]?.body ?? ''
}

const counts = 's.selector = any ($4::bytea[]) and ($3::text is null or s.block_timestamp > now() - $3::interval)'

// Materialized: summed up per recipient where the rows lie, in parallel, before anything is joined.
const text = `
with paid as materialized (
  select s.recipient, count(*) as settlements, sum(s.amount) as volume, max(s.block_timestamp) as newest_at
    from settlement s
   where ${counts}
   group by s.recipient
),
ranked as (
  select row_number() over (order by sum(paid.settlements) desc, sum(paid.volume) desc, payee.fid) as rank,
         payee.fid, sum(paid.settlements) as settlement_count, sum(paid.volume) as volume,
         max(paid.newest_at) as last_settlement_at
    from (select fid, unnest(verified_addresses) as address from agent) payee
    join paid on paid.recipient = payee.address
   group by payee.fid
   order by rank
   limit $2
)
select json_build_object(
  'period', $1::text,
  'limit', $2::int,
  'count', count(*),
  'generated_at', ${isoTime('now()')},
  'agents', coalesce(json_agg(json_build_object(
    'rank', ranked.rank,${leanRow},
    'settlement_count', ranked.settlement_count,
    'volume_usdc', ${dollars('ranked.volume')},
    'unique_payers', (select count(*) from (select distinct s.payer from settlement s
                                             where s.recipient = any (a.verified_addresses) and ${counts}) payer),
    'last_settlement_at', ${isoTime('ranked.last_settlement_at')}
  ) order by ranked.rank), '[]')
)::text as body
  from ranked
  join agent a using (fid)`
