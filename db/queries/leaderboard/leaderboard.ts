import type { Queryable } from '../../pool.ts'
import { isKept, isMovedBy, payments } from '../rollup/figure-parts.ts'
import { chosen, chosenValue, type LeftOut, listWithoutBroken } from '../sql/broken-rows.ts'
import { dollars, isoTime } from '../sql/json-text.ts'
import { leanRowWith } from '../sql/lean-row.ts'
import { besideSums, busiestAgents, countedSettlements, spareAgents, windowStart } from '../sql/settlement-windows.ts'

/**
 * Rolling windows: where each begins, as SQL (null: with the first block), its columns of `recipient_counts`, and that of
 * `agent`, which has an index.
 */
const windows = {
  '7d': { since: windowStart.last_7d('now()'), count: 'last_7d', counted: 'settlements_7d' },
  '30d': { since: windowStart.last_30d('now()'), count: 'last_30d', counted: 'settlements_30d' },
  all: { since: null, count: 'ever', counted: 'settlements_all' },
} as const

/** Moved pairs of an agent up to which they are looked up while a client waits. */
const mostMoves = 2_000
/** Settlements of an agent up to which all its pairs are read where they moved otherwise. */
const mostPairs = 20_000

/** What is shown of every agent, whatever the window: counted with it, so that one answer does not tell two numbers. */
const shown = ['last_30d', 'ever'] as const
const windowOf = { last_30d: windows['30d'], ever: windows.all }

export type LeaderboardPeriod = keyof typeof windows
export const leaderboardPeriods = Object.keys(windows) as LeaderboardPeriod[]

/**
 * JSON of `GET /api/leaderboard`: agents by settlements in the window, then volume, then fid ascending. Agents without
 * one are left out.
 *
 * What is shown of an agent is counted when asked, to the row, and so is the rank among those who are counted. Who is
 * counted follows from the job's last round, a minute ago: the first `limit` and fifty more. An agent that was not
 * among them then and would be shown now has to wait for the next round. Who paid follows from who paid last in each hour,
 * which is kept, and from who paid since; an agent that so many paid since, and of whom so many did, that they cannot be
 * read while a client waits is shown with those kept, a minute ago.
 */
export async function leaderboard(
  db: Queryable,
  {
    period,
    limit,
    settlementOverloads,
    leftOut,
  }: { period: LeaderboardPeriod; limit: number; settlementOverloads: 'spec' | 'all'; leftOut: LeftOut },
): Promise<string> {
  const values = [limit, settlementOverloads === 'all', period]
  const ranking = rankingOf(windows[period])
  return listWithoutBroken({
    read: async (choice) => {
      const { rows } = await db.query<{ body: string }>({
        // Unnamed: planned with its values it takes half as long as by a plan for any.
        text: `${ranking}${answer}${chosen(choice, 'ranked.fid', '$4')}`,
        values: [...values, ...chosenValue(choice)],
      })
      return rows[0]?.body ?? ''
    },
    fids: async () => {
      const text = `${ranking}select fid, $3::text from ranked order by rank`
      const { rows } = await db.query<{ fid: number }>({ text, values })
      return rows.map(({ fid }) => fid)
    },
    leftOut,
  })
}

function rankingOf(window: (typeof windows)[LeaderboardPeriod]): string {
  const { since, count } = window
  const overloads = '$2::boolean'
  const counts = [
    { name: 'settlements', since },
    ...shown.filter((name) => name !== count).map((name) => ({ name, since: windowOf[name].since })),
  ]
  const counted = countedSettlements({
    recipients: 'recipient',
    beside: 'beside',
    amounts: true,
    newest: true,
    overloads,
    windows: counts,
  })
  const addresses = 'array(select address from recipient)'
  const fresh = `
fresh as materialized (
  select m.fid, '' as chain, b.payer, max(b.block_timestamp) as last_at
    from member m join beside b on b.recipient = m.address
   where ${isAfter('b.block_timestamp', since)}
   group by m.fid, b.payer
)`
  const column = (name: (typeof shown)[number]) => (name === count ? 'settlements' : name)
  return `
with ${candidatesOf(window)},
beside as materialized (
  select * from ${besideSums({ addresses, overloads, sinces: counts.flatMap((one) => one.since ?? []) })} b
),
paid as materialized (
  select address, sum(settlements) as settlements, sum(settlements_amount) as volume, max(newest_at) as newest_at,
         ${shown.map((name) => `sum(${column(name)}) as ${name}`).join(', ')}
    from (${counted}) part
   group by address
),
ranked as (
  select row_number() over (order by sum(paid.settlements) desc, sum(paid.volume) desc, verified.fid) as rank,
         verified.fid, sum(paid.settlements) as settlement_count, sum(paid.volume) as volume,
         max(paid.newest_at) as newest_at,
         ${shown.map((name) => `sum(paid.${name}) as ${name}`).join(', ')}
    from verified
    join paid using (address)
   group by verified.fid
  having sum(paid.settlements) > 0
   order by rank
   limit $1
),
asked as materialized (
  select a.fid, a.verified_addresses as addresses, kept.has_moves,
         ${isKept} and (kept.has_moves or ranked.ever > ${mostPairs}) as is_kept
    from ranked
    join agent a using (fid)
    left join figure_derivation d using (fid)
   cross join lateral (select ${isMovedBy(mostMoves)} as has_moves) kept
),${payments(fresh, 'asked.has_moves')},
${payersSince(since)}
`
}

/** The busiest agents by the last round's counts, and their addresses. */
const candidatesOf = ({ count, counted }: (typeof windows)[LeaderboardPeriod]) => `busy as materialized (
  select fid, unnest(verified_addresses) as address from (${busiestAgents(counted, '$1')}) agent
),
candidate as materialized (
  select fid
    from busy
   cross join lateral (
     select * from recipient_counts c where c.address = busy.address
     offset 0 -- each is looked up, instead of reading everybody's
   ) c
   group by fid
   order by sum(c.${count}) desc, sum(c.${count}_amount) desc, fid
   limit $1 + ${spareAgents}
),
verified as materialized (select fid, unnest(verified_addresses) as address from candidate join agent using (fid)),
recipient as materialized (select distinct address from verified)`

const isAfter = (time: string, since: string | null) => (since === null ? 'true' : `${time} > ${since}`)

/** How many paid each ranked agent in the window. */
function payersSince(since: string | null): string {
  const isInHours = (time: string) =>
    since === null ? `${time} is not null` : `${time} >= date_trunc('hour', ${since}, 'UTC') + interval '1 hour'`
  // The sum of all hours stands with the figures.
  const keptPayers =
    since === null
      ? `select fid, f.ever_payers as n from asked join agent_figure f using (fid) where is_kept and f.chain = '' and f.own`
      : `select fid, h.payers as n from asked join agent_payer_hour h using (fid)
            where is_kept and h.chain = '' and ${isInHours('h.hour')}`
  return `-- A sum of hours: those behind the one that the window begins in, of which "fresh" has who paid after its beginning.
payers as materialized (
  select fid, greatest(sum(n), 1) as payers
    from (${keptPayers}
           union all
          select fid, (${isAfter('last_at', since)})::int - coalesce(${isInHours('before')}, false)::int
            from (select fid, payer, max(last_at) as last_at, max(before) as before from payment group by fid, payer) payer
         ) part
   group by fid
)`
}

const answer = `
select json_build_object(
  'period', $3::text,
  'limit', $1::int,
  'count', count(*),
  'generated_at', ${isoTime('now()')},
  'agents', coalesce(json_agg(json_build_object(
    'rank', ranked.rank, ${leanRowWith({ last30d: 'ranked.last_30d', ever: 'ranked.ever', newestAt: 'ranked.newest_at' })},
    'settlement_count', ranked.settlement_count,
    'volume_usdc', ${dollars('ranked.volume')},
    'unique_payers', coalesce(payers.payers, 0),
    'last_settlement_at', ${isoTime('ranked.newest_at')}
  ) order by ranked.rank), '[]')
)::text as body
  from ranked
  join agent a using (fid)
  left join payers using (fid)
`
