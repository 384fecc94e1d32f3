import { z } from 'zod'
import { rowLimits } from '../../../config/limits.ts'
import { count, nextCursor } from '../scalars.ts'
import { leanRow } from './lean-row.ts'

export const discoveryList = z
  .strictObject({
    agents: z.array(leanRow).max(rowLimits.discovery.maximum),
    total: count.meta({ description: 'Matching agents.' }),
    limit: z.int().min(rowLimits.discovery.minimum).max(rowLimits.discovery.maximum),
    offset: count.meta({ description: 'Rows before this page.' }),
    page: z.int().positive().meta({ description: 'From 1.' }),
    count: count.meta({ description: 'Rows in this answer.' }),
  })
  .meta({ id: 'DiscoveryList' })

/** A page of discovery as it is answered where `cursor` or `fields` is in the query. */
export const discoverySelection = discoveryList
  .extend({
    agents: z.array(leanRow.partial().required({ fid: true })).max(rowLimits.discovery.maximum),
    offset: count.nullable().meta({ description: 'Null with `cursor`.' }),
    page: z.int().positive().nullable().meta({ description: 'Null with `cursor`.' }),
    next_cursor: nextCursor.optional(),
  })
  .meta({ id: 'DiscoverySelection' })
