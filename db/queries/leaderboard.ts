import type { Queryable } from '../pool.ts'
import { dollars, isoTime, settlementChains } from './json-text.ts'
import { leanRow } from './lean-row.ts'
import { isListed } from './selectors.ts'
import { countedSettlements, newestSettlement } from './settlement-windows.ts'

/** Where rolling windows begin, as SQL; null: with the first block. */
const windows = { '7d': `now() - interval '7 days'`, '30d': `now() - interval '30 days'`, all: null } as const

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
    name: `leaderboard-${period}`,
    text: rankingOf(windows[period]),
    values: [period, limit, settlementOverloads === 'all'],
  })
  return rows[0]?.body ?? ''
}

function rankingOf(since: string | null): string {
  const counted = countedSettlements({
    recipients: 'payee',
    few: false,
    amounts: true,
    overloads: '$3::boolean',
    windows: [{ name: 'settlements', since }],
  })
  const shown = `($3::boolean or ${isListed('s.selector')})${since === null ? '' : ` and s.block_timestamp > ${since}`}`
  return `
with payee as materialized (select distinct unnest(verified_addresses) as address from agent),
paid as materialized (
  select address, sum(settlements) as settlements, sum(settlements_amount) as volume
    from (${counted}) part
   group by address
  having sum(settlements) > 0
),
ranked as (
  select row_number() over (order by sum(paid.settlements) desc, sum(paid.volume) desc, agent.fid) as rank,
         agent.fid, sum(paid.settlements) as settlement_count, sum(paid.volume) as volume
    from (select fid, unnest(verified_addresses) as address from agent) agent
    join paid using (address)
   group by agent.fid
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
                                             where s.recipient = any (a.verified_addresses) and ${shown}) payer),
    'last_settlement_at', ${isoTime(newestSettlement('a.verified_addresses', settlementChains, '$3::boolean'))}
  ) order by ranked.rank), '[]')
)::text as body
  from ranked
  join agent a using (fid)`
}
