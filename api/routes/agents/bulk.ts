import { createHash } from 'node:crypto'
import { documentLimits, grouped } from '../../../config/limits.ts'
import { claimedAgents } from '../../../db/queries/agents/bulk.ts'
import { firstProduced } from '../../../db/queries/exports/produced.ts'
import { installationOf, json, route } from '../../http/route.ts'
import { bulkDocument } from '../../schemas/agents/profile.ts'

/** GET /data/agents.json */
export const bulk = route({
  path: '/data/agents.json',
  operationId: 'getBulk',
  summary: `Every claimed agent in one document, at most ${grouped(documentLimits.bulkAgents)}.`,
  answer: { type: json, schema: bulkDocument, description: 'The document.' },
  maxAgeSeconds: 300,
  freshSeconds: 300,
  async read(_input, { database, primary, chains, baseUrl, now, leftOut }) {
    const { count, total, agents } = await claimedAgents(database, {
      limit: documentLimits.bulkAgents,
      installation: installationOf({ chains, baseUrl }),
      leftOut: (fid, cause) => leftOut('bulk', fid, cause),
    })
    // Unchanged content keeps its `generated_at`, and so its bytes and ETag: mirrors need not fetch it again.
    const sha256 = createHash('sha256').update(`${total} ${agents}`).digest()
    const generatedAt = await firstProduced(primary, { name: 'agents.json', sha256, now: new Date(now()) })
    const head = {
      generated_at: generatedAt,
      count,
      total,
      truncated: total > documentLimits.bulkAgents,
      schema_version: 1,
    }
    return `${JSON.stringify(head).slice(0, -1)},"agents":${agents}}`
  },
})
