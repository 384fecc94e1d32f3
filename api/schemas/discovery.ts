import { z } from 'zod'
import { rowLimits } from '../../limits.config.ts'
import { leanRow } from './lean-row.ts'
import { count, nextCursor } from './scalars.ts'

export const discoveryList = z
  .strictObject({
    agents: z.array(leanRow).max(rowLimits.discovery.maximum),
    total: count.meta({ description: 'Matching agents.' }),
    limit: z.int().min(rowLimits.discovery.minimum).max(rowLimits.discovery.maximum),
    offset: count,
    page: z.int().positive(),
    count: count.meta({ description: 'Rows in this answer.' }),
  })
  .meta({ id: 'DiscoveryList' })

/** With `cursor` or `fields` in the query. */
export const discoverySelection = discoveryList
  .extend({
    agents: z.array(leanRow.partial().required({ fid: true })).max(rowLimits.discovery.maximum),
    offset: count.nullable().meta({ description: 'Null with `cursor`.' }),
    page: z.int().positive().nullable().meta({ description: 'Null with `cursor`.' }),
    next_cursor: nextCursor.optional(),
  })
  .meta({ id: 'DiscoverySelection' })
