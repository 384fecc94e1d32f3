import { z } from 'zod'
import { uptimeLimits } from '../../../config/limits.ts'
import { agentUptime as readUptime } from '../../../db/queries/documents/uptime.ts'
import { objectText } from '../../http/cursor.ts'
import { fidParameter, integerParameter } from '../../http/parameters.ts'
import { json, route } from '../../http/route.ts'
import { agentUptime } from '../../schemas/documents/enriched.ts'

/** GET /api/agent/:fid/uptime */
export const uptime = route({
  path: '/api/agent/{fid}/uptime',
  operationId: 'getUptime',
  summary: 'How often the documents on an agent’s hosts were found alive, day by day.',
  params: z.object({ fid: fidParameter }),
  query: z.object({ days: integerParameter(uptimeLimits.days, 'UTC days, the last of them today.') }),
  answer: {
    type: json,
    schema: agentUptime,
    description: 'The documents of the profile. Days ascend, and those without a check are in it, with zeros.',
  },
  errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND'],
  maxAgeSeconds: 30,
  freshSeconds: 5,
  missing: 'no agent with this fid',
  resource: 'uptime://{fid}',
  async read({ fid, days }, { database }) {
    const found = await readUptime(database, { fid, days })
    if (!found) return undefined
    const { since, until, count, documents } = found
    const window = { since: JSON.stringify(since), until: JSON.stringify(until) }
    return objectText({ fid: `${fid}`, ...window, count: `${count}`, documents })
  },
})
