import { z } from 'zod'
import { leanRow } from './lean-row.ts'
import { count } from './scalars.ts'

export const discoveryList = z
  .strictObject({
    agents: z.array(leanRow).max(100),
    total: count.meta({ description: 'Matching agents.' }),
    limit: z.int().min(10).max(100),
    offset: count,
    page: z.int().positive(),
    count: count.meta({ description: 'Rows in this answer.' }),
  })
  .meta({ id: 'DiscoveryList' })
