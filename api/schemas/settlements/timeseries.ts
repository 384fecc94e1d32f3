import { z } from 'zod'
import { grouped, readingLimits } from '../../../config/limits.ts'
import { intervals } from '../../../db/queries/settlements/buckets.ts'
import { count, dollars, fid, time } from '../scalars.ts'

const uncounted =
  `the window has more than ${grouped(readingLimits.payerSettlements)} settlements, and the job has not counted this ` +
  'point: it counts days, weeks and months that are over, on one chain or on all.'

const point = z
  .strictObject({
    start: time.meta({ description: 'Its beginning; it ends where the next begins.' }),
    settlements: count,
    amount_usdc: dollars,
    unique_payers: count.nullable().meta({
      description: `Who paid in it, each once; those of two points cannot be added. Null: ${uncounted}`,
    }),
    median_usdc: dollars.nullable().meta({
      description: `The amount in the middle, of an even number the lower one. Null: nothing was paid, or ${uncounted}`,
    }),
  })
  .meta({ id: 'SeriesPoint' })

const series = {
  interval: z
    .enum(intervals)
    .meta({ description: `Coarser than asked for where that would be over ${grouped(readingLimits.points)} points.` }),
  since: time.nullable().meta({ description: 'Where the first point begins. Null: a filter could not be read.' }),
  until: time.nullable().meta({ description: 'Where the last point ends.' }),
  complete_until: time.nullable().meta({
    description: 'Sums up to here move no more, of the chain that is least far. Null: not known of one of them.',
  }),
  count: count.max(readingLimits.points),
  points: z.array(point).max(readingLimits.points),
}

export const agentSeries = z.strictObject({ fid, ...series }).meta({ id: 'AgentSeries' })
export const allSeries = z.strictObject(series).meta({ id: 'Series' })

const growthPoint = z
  .strictObject({
    start: time.meta({ description: 'Its beginning; it ends where the next begins.' }),
    agents: count.meta({ description: 'Became one in it.' }),
    claims: count.meta({ description: 'Were claimed in it for the first time.' }),
  })
  .meta({ id: 'GrowthPoint' })

const { interval, since, until } = series
export const growthAnswer = z
  .strictObject({
    interval,
    since,
    until,
    count: series.count,
    points: z.array(growthPoint).max(readingLimits.points),
  })
  .meta({ id: 'Growth' })
