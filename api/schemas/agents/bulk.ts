import { z } from 'zod'
import { documentLimits } from '../../../limits.config.ts'
import { count, time } from '../scalars.ts'
import { profile } from './profile.ts'

export const bulkDocument = z
  .strictObject({
    generated_at: time.meta({ description: 'When this content was first produced.' }),
    count: count.max(documentLimits.bulkAgents),
    total: count.meta({ description: 'Claimed agents there are.' }),
    truncated: z.boolean().meta({ description: 'Whether there are more claimed agents than are listed.' }),
    schema_version: z.literal(1),
    agents: z
      .array(
        profile
          .omit({ oli_tags: true, agent_edges: true, agent_identities: true })
          .meta({ id: 'BulkAgent', description: 'A profile without tags, edges and identities.' }),
      )
      .max(documentLimits.bulkAgents),
  })
  .meta({ id: 'BulkDocument' })
