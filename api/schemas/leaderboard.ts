import { z } from 'zod'
import { grouped, profileLimits, rowLimits } from '../../limits.config.ts'
import { leanFields } from './lean-row.ts'
import { count, dollars, time } from './scalars.ts'

const rankedAgent = z
  .strictObject({
    rank: z.int().positive(),
    ...leanFields,
    settlement_count: z.int().positive().meta({ description: 'In the window.' }),
    volume_usdc: dollars,
    unique_payers: z
      .int()
      .positive()
      .meta({
        description: `In the window. Of agents with more than ${grouped(profileLimits.payersCountedAtOnce)} settlements as of some minutes ago.`,
      }),
    last_settlement_at: time,
  })
  .meta({ id: 'RankedAgent' })

export const leaderboardAnswer = z
  .strictObject({
    period: z.enum(['7d', '30d', 'all']),
    limit: z.int().min(rowLimits.leaderboard.minimum).max(rowLimits.leaderboard.maximum),
    count,
    generated_at: time,
    agents: z.array(rankedAgent).max(rowLimits.leaderboard.maximum),
  })
  .meta({ id: 'Leaderboard' })
