import { z } from 'zod'
import { rowLimits } from '../../../config/limits.ts'
import {
  leaderboardPeriods,
  leaderboard as rank,
  rankingMeasures,
} from '../../../db/queries/leaderboard/leaderboard.ts'
import { askable, chainFilter } from '../../http/filter-parameters.ts'
import { flagParameter, integerParameter, wordParameter } from '../../http/parameters.ts'
import { json, route } from '../../http/route.ts'
import { leaderboardAnswer } from '../../schemas/leaderboard/leaderboard.ts'

export const periodParameter = wordParameter(leaderboardPeriods, '30d', 'The window, up to now.')

const daysOfChange = { none: null, '1d': 1, '7d': 7, '30d': 30 } as const
const changes = Object.keys(daysOfChange) as (keyof typeof daysOfChange)[]

/** GET /api/leaderboard */
export const leaderboard = route({
  path: '/api/leaderboard',
  operationId: 'getLeaderboard',
  summary: 'Agents by settlements over a rolling window.',
  query: z.object({
    period: periodParameter,
    limit: integerParameter(rowLimits.leaderboard, 'Rows at most.'),
    by: wordParameter(
      rankingMeasures,
      'settlements',
      'What ranks them. `income`: what they were paid, of every kind, without what they paid themselves. `repeat_payers`: ' +
        'by how many who had paid before.',
    ),
    chain: chainFilter('Only settlements on this one chain.'),
    exclude_self: flagParameter('`true`: without what an agent paid itself, from one verified address to another.'),
    change: wordParameter(
      changes,
      'none',
      'With the rank an agent had when the UTC day so many days ago began, of the same ranking.',
    ),
  }),
  answer: {
    type: json,
    schema: leaderboardAnswer,
    description:
      'The ranking as of the last round of counting (`generated_at`). The windows of income and of repeat payers begin ' +
      'with a full hour.',
  },
  tool: {
    name: 'get_leaderboard',
    use: 'Agents ranked by settlements received, volume, payers, income or repeat payers.',
    untold: ['chain', 'exclude_self', 'change'],
  },
  maxAgeSeconds: 60,
  freshSeconds: 60,
  read({ period, limit, by, chain, exclude_self, change }, { database, leftOut, now }) {
    return rank(database, {
      period,
      by,
      chain: chain === null ? null : askable({ chain })?.chain,
      excludeSelf: exclude_self === true,
      daysAgo: daysOfChange[change],
      limit,
      now: now(),
      leftOut: (fid, cause) => leftOut('leaderboard', fid, cause),
    })
  },
})
