import { z } from 'zod'
import { leaderboardPeriods, leaderboard as rank } from '../../db/queries/read/leaderboard.ts'
import { rowLimits } from '../../limits.config.ts'
import { integerParameter, wordParameter } from '../http/parameters.ts'
import { json, route } from '../http/route.ts'
import { leaderboardAnswer } from '../schemas/leaderboard.ts'

export const periodParameter = wordParameter(leaderboardPeriods, '30d', 'The window, up to now.')

/** GET /api/leaderboard */
export const leaderboard = route({
  path: '/api/leaderboard',
  operationId: 'getLeaderboard',
  summary: 'Agents by settlements over a rolling window.',
  params: z.object({}),
  query: z.object({
    period: periodParameter,
    limit: integerParameter(rowLimits.leaderboard, 'Rows at most.'),
  }),
  answer: { type: json, schema: leaderboardAnswer, description: 'The ranking.' },
  errors: [],
  tool: { name: 'get_leaderboard', use: 'Agents ranked by settlements received in 7 days, 30 days, or ever.' },
  maxAgeSeconds: 60,
  freshSeconds: 60,
  read: ({ period, limit }, { database, settlementOverloads, leftOut }) =>
    rank(database, {
      period,
      limit,
      settlementOverloads,
      leftOut: (fid, cause) => leftOut('leaderboard', fid, cause),
    }),
})
