import type { Queryable } from '../../pool.ts'
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
 * among them then and would be shown now has to wait for the next round. Payers of an agent with many settlements are
 * those of that round too.
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
  const values = [period, limit, settlementOverloads === 'all']
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
      const text = `${ranking}select fid, $1::text from ranked order by rank`
      const { rows } = await db.query<{ fid: number }>({ text, values })
      return rows.map(({ fid }) => fid)
    },
    leftOut,
  })
}

function rankingOf(window: (typeof windows)[LeaderboardPeriod]): string {
  const { since, count, counted: kept } = window
  const overloads = '$3::boolean'
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
  const after = (time: string) => (since === null ? 'true' : `${time} > ${since}`)
  const column = (name: (typeof shown)[number]) => (name === count ? 'settlements' : name)
  return `
with busy as materialized (
  select fid, unnest(verified_addresses) as address from (${busiestAgents(kept, '$2')}) agent
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
   limit $2 + ${spareAgents}
),
verified as materialized (select fid, unnest(verified_addresses) as address from candidate join agent using (fid)),
recipient as materialized (select distinct address from verified),
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
   limit $2
),
-- Of agents with many settlements the job has counted the payers, a minute ago; the others are few rows.
kept as materialized (
  select a.fid, kept.${count} as payers
    from ranked
    join agent a using (fid)
    join agent_payers kept on kept.fid = a.fid and kept.addresses = a.verified_addresses and kept.overloads = ${overloads}
),
uncounted as materialized (
  select fid, address from verified where fid in (select fid from ranked) and fid not in (select fid from kept)
),
-- Agent by agent, as sorting all of their payers takes longer than reading them.
payers as materialized (
  select u.fid, payer.payers
    from (select fid, array_agg(address) as addresses from uncounted group by fid) u
    left join (select u.fid, array_agg(b.payer) as payers
                 from uncounted u join beside b on b.recipient = u.address
                where ${after('b.block_timestamp')} group by u.fid) b using (fid)
   cross join lateral (
     select count(*) as payers
       from (select p.payer
               from unnest(u.addresses) as one (address)
              cross join lateral (
                select p.payer
                  from settlement_payer p
                 where p.recipient = one.address and (${overloads} or not p.overload) and ${after('p.last_at')}
                offset 0 -- each is looked up, instead of reading everybody's
              ) p
              union
             select unnest(b.payers)) payer
   ) payer
   union all
  select fid, greatest(payers, 1) from kept
)
`
}

const answer = `
select json_build_object(
  'period', $1::text,
  'limit', $2::int,
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
