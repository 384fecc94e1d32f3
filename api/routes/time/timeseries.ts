import { z } from 'zod'
import { agentExists } from '../../../db/queries/time/agent-exists.ts'
import { completeUntil, settlementSeries } from '../../../db/queries/time/timeseries.ts'
import { grouped, readingLimits } from '../../../limits.config.ts'
import { objectText } from '../../http/cursor.ts'
import { askable, timeFilter } from '../../http/filter-parameters.ts'
import { chainsParameter, fidParameter, wordParameter } from '../../http/parameters.ts'
import { json, route, type Sources } from '../../http/route.ts'
import { agentSeries, allSeries } from '../../schemas/timeseries.ts'
import { bucketsOf, type Interval, intervals } from '../../series/buckets.ts'

const query = z.object({
  interval: wordParameter(intervals, 'day', 'Length of a point: UTC, weeks from Monday.'),
  since: timeFilter('ISO 8601 with a zone; the point it is in is the first. Without it there are 30.'),
  until: timeFilter('ISO 8601 with a zone, exclusive; the point before it is the last. Without it, now.'),
  chain: chainsParameter,
})
const description =
  'A point for every interval, ascending, zero where nothing happened; never beyond now. ' +
  `Over ${grouped(readingLimits.points)} points the next coarser interval is taken, and named.`
const seconds = { maxAgeSeconds: 60, freshSeconds: 30 }

/** GET /api/agent/:fid/timeseries */
export const agentTimeseries = route({
  path: '/api/agent/{fid}/timeseries',
  operationId: 'getAgentTimeseries',
  summary: 'What an agent received, by hour, day, week or month.',
  params: z.object({ fid: fidParameter }),
  query,
  answer: { type: json, schema: agentSeries, description },
  errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND'],
  tool: {
    name: 'get_timeseries',
    use: 'Sums of what one agent was paid, by hour, day, week or month. Points after complete_until are not final.',
  },
  ...seconds,
  missing: 'no agent with this fid',
  async read({ fid, ...asked }, sources) {
    if (!(await agentExists(sources.database, fid))) return undefined
    return objectText({ fid: `${fid}`, ...(await seriesOf(fid, asked, sources)) })
  },
})

/** GET /api/timeseries */
export const timeseries = route({
  path: '/api/timeseries',
  operationId: 'getTimeseries',
  summary: 'All settlements, whoever was paid, by hour, day, week or month.',
  params: z.object({}),
  query,
  answer: { type: json, schema: allSeries, description },
  errors: [],
  ...seconds,
  read: async (asked, sources) => objectText(await seriesOf(null, asked, sources)),
})

async function seriesOf(
  fid: number | null,
  { interval: wanted, ...given }: z.output<typeof query>,
  { database, settlementOverloads, now }: Sources,
): Promise<Record<string, string>> {
  const asked = askable(given)
  const { interval, starts, end } = asked ? bucketsOf(wanted, times(asked, now())) : nothing(wanted)
  const chain = asked?.chain ?? null
  const points =
    starts.length === 0 ? '[]' : await settlementSeries(database, { fid, starts, end, chain, settlementOverloads })
  const time = (ms: number | undefined) => JSON.stringify(asked && ms !== undefined ? new Date(ms).toISOString() : null)
  return {
    interval: JSON.stringify(interval),
    since: time(starts[0] ?? end),
    until: time(end),
    complete_until: JSON.stringify(await completeUntil(database, chain)),
    count: `${starts.length}`,
    points,
  }
}

const nothing = (interval: Interval) => ({ interval, starts: [], end: 0 })

function times({ since, until }: { since: string | null; until: string | null }, now: number) {
  const ms = (text: string | null) => (text === null ? null : Date.parse(text))
  return { since: ms(since), until: ms(until), now }
}
