import { z } from 'zod'
import { grouped, readingLimits } from '../../../config/limits.ts'
import { agentExists } from '../../../db/queries/agents/agents.ts'
import { completeUntil, settlementSeries } from '../../../db/queries/settlements/timeseries.ts'
import { objectText } from '../../http/cursor.ts'
import { fidParameter } from '../../http/parameters.ts'
import { json, route, type Sources } from '../../http/route.ts'
import { agentSeries, allSeries } from '../../schemas/settlements/timeseries.ts'
import { seriesQuery, seriesWindow } from '../../series/window.ts'

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
  query: seriesQuery,
  answer: { type: json, schema: agentSeries, description },
  errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND'],
  tool: {
    name: 'get_timeseries',
    use: 'Sums of what one agent was paid, by hour, day, week or month. Points after complete_until are not final.',
    untold: ['chain'],
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
  query: seriesQuery,
  answer: { type: json, schema: allSeries, description },
  ...seconds,
  read: async (asked, sources) => objectText(await seriesOf(null, asked, sources)),
})

async function seriesOf(
  fid: number | null,
  asked: z.output<typeof seriesQuery>,
  { database, settlementOverloads, now }: Sources,
): Promise<Record<string, string>> {
  const { interval: length, starts, end, chain, members } = seriesWindow(asked, now())
  const { interval, since, until, count } = members
  const payersUpTo = readingLimits.payerSettlements
  // Before the points, which need not have what comes later.
  const complete_until = JSON.stringify(await completeUntil(database, chain))
  const points =
    starts.length === 0
      ? '[]'
      : await settlementSeries(database, { fid, starts, end, length, chain, settlementOverloads, payersUpTo })
  return { interval, since, until, complete_until, count, points }
}
