import { z } from 'zod'
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
      .meta({ description: 'In the window. Of agents with more than 10,000 settlements as of some minutes ago.' }),
    last_settlement_at: time,
  })
  .meta({ id: 'RankedAgent' })

export const leaderboardAnswer = z
  .strictObject({
    period: z.enum(['7d', '30d', 'all']),
    limit: z.int().min(1).max(100),
    count,
    generated_at: time,
    agents: z.array(rankedAgent).max(100),
  })
  .meta({ id: 'Leaderboard' })
