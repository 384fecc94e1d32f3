import { z } from 'zod'
import { agentExists } from '../../../db/queries/agents/agents.ts'
import { allIncome, agentIncome as readIncome } from '../../../db/queries/income/agent-income.ts'
import { incomeSeries as readSeries } from '../../../db/queries/income/series.ts'
import { completeUntil } from '../../../db/queries/settlements/timeseries.ts'
import { objectText } from '../../http/cursor.ts'
import { fidParameter } from '../../http/parameters.ts'
import { json, route } from '../../http/route.ts'
import { agentIncome, incomeSeries, incomeStats } from '../../schemas/income/income.ts'
import { seriesQuery, seriesWindow } from '../../series/window.ts'

const ofAgent = {
  params: z.object({ fid: fidParameter }),
  errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND'] as const,
  missing: 'no agent with this fid',
  maxAgeSeconds: 60,
  freshSeconds: 30,
}

/**
 * Time, as a JSON text, up to which income is rolled up and summed up; `null`: nothing is rolled up yet. `rolledUp`: what
 * `completeUntil` said before the sums were read, as they need not have what is rolled up later. `due`: first hour that
 * waited to be summed up when they were read; null: none did.
 */
const incomeUntil = (rolledUp: string | null, due: string | null) =>
  JSON.stringify(rolledUp !== null && due !== null && due < rolledUp ? due : rolledUp)

/** GET /api/agent/:fid/income */
export const income = route({
  ...ofAgent,
  path: '/api/agent/{fid}/income',
  operationId: 'getIncome',
  summary: 'What an agent was paid, of every kind, raw and without what it paid itself.',
  answer: {
    type: json,
    schema: agentIncome,
    description:
      'Beside the counts of settlements, which are of two functions and of verified addresses alone. Final blocks only.',
  },
  errors: [...ofAgent.errors],
  signable: true,
  async read({ fid }, { database }) {
    if (!(await agentExists(database, fid))) return undefined
    const rolledUp = await completeUntil(database, null)
    const { members, due } = await readIncome(database, fid)
    const { self, same_owner, ring, dust, reciprocal, other_chain, single_payer, addresses, ...sums } =
      members as Record<string, string>
    const flags = { self, same_owner, ring, dust, reciprocal, other_chain, single_payer } as Record<string, string>
    return objectText({
      fid: `${fid}`,
      currency: '"USD"',
      complete_until: incomeUntil(rolledUp, due),
      ...(sums as Record<string, string>),
      flags: objectText(flags),
      addresses: addresses as string,
    })
  },
})

/** GET /api/agent/:fid/income/timeseries */
export const incomeTimeseries = route({
  ...ofAgent,
  path: '/api/agent/{fid}/income/timeseries',
  operationId: 'getIncomeTimeseries',
  summary: 'Income of an agent by hour, day, week or month, raw and filtered.',
  query: seriesQuery,
  answer: {
    type: json,
    schema: incomeSeries,
    description: 'A point for every interval, ascending, zero where nothing was paid; never beyond now.',
  },
  errors: [...ofAgent.errors],
  async read({ fid, ...asked }, { database, now }) {
    if (!(await agentExists(database, fid))) return undefined
    const { starts, end, chain, members } = seriesWindow(asked, now())
    const rolledUp = await completeUntil(database, null)
    const { points, due } = await readSeries(database, { fid, starts, end, chain })
    const { interval, since, until, count } = members
    const complete_until = incomeUntil(rolledUp, due)
    return objectText({ fid: `${fid}`, interval, since, until, complete_until, count, points })
  },
})

/** GET /api/income/stats */
export const allIncomeStats = route({
  path: '/api/income/stats',
  operationId: 'getIncomeStats',
  summary: 'What all agents were paid, of every kind, raw and without what they paid themselves.',
  answer: { type: json, schema: incomeStats, description: 'Final blocks only.' },
  maxAgeSeconds: 60,
  freshSeconds: 60,
  async read(_input, { database, now }) {
    const rolledUp = await completeUntil(database, null)
    const { members, due } = await allIncome(database)
    const { self, same_owner, ring, dust, ...sums } = members as Record<string, string>
    const flags = { self, same_owner, ring, dust } as Record<string, string>
    return objectText({
      currency: '"USD"',
      complete_until: incomeUntil(rolledUp, due),
      ...(sums as Record<string, string>),
      flags: objectText(flags),
      generated_at: JSON.stringify(new Date(now()).toISOString()),
    })
  },
})
