import { z } from 'zod'
import { grouped, readingLimits, rowLimits } from '../../../config/limits.ts'
import { leanFields } from '../directory/lean-row.ts'
import { count, dollars, netDollars, time } from '../scalars.ts'

const rankedAgent = z
  .strictObject({
    rank: z.int().positive(),
    ...leanFields,
    settlement_count: count.meta({ description: 'In the window. 0: by income alone.' }),
    volume_usdc: dollars,
    unique_payers: count.meta({ description: 'Of settlements in the window.' }),
    income_usdc: netDollars.optional().meta({
      description:
        'With `by=income` and `by=repeat_payers`: income in the window, of every kind, without what the agent paid itself.',
    }),
    income_payments: count.optional().meta({ description: 'With `income_usdc`: the payments that this is made of.' }),
    repeat_payers: count.optional().meta({
      description:
        'With `by=repeat_payers`: payers whose newest payment is in the window and was not their first, as `demand` of ' +
        'the agent’s income counts them.',
    }),
    last_settlement_at: time.nullable().meta({ description: 'Null: by income alone, there was none.' }),
    previous_rank: z
      .int()
      .positive()
      .nullable()
      .optional()
      .meta({
        description: `With \`change\`: the rank at \`compared_at\`. Null: not among the first ${grouped(readingLimits.ranks)} then.`,
      }),
    rank_change: z.int().nullable().optional().meta({ description: 'With `change`; positive: up.' }),
  })
  .meta({ id: 'RankedAgent' })

export const leaderboardAnswer = z
  .strictObject({
    period: z.enum(['7d', '30d', 'all']),
    limit: z.int().min(rowLimits.leaderboard.minimum).max(rowLimits.leaderboard.maximum),
    count,
    generated_at: time,
    counted: z.boolean().optional().meta({
      description:
        'Only of rankings as of the last round of counting. False: the first is not over, so nobody is ranked yet.',
    }),
    compared_at: time.nullable().optional().meta({
      description: 'With `change`: when the earlier ranking was made. Null: none was made that day.',
    }),
    agents: z.array(rankedAgent).max(rowLimits.leaderboard.maximum),
  })
  .meta({ id: 'Leaderboard' })
