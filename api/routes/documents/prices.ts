import { z } from 'zod'
import { profileLimits } from '../../../config/limits.ts'
import { agentPrices as readPrices } from '../../../db/queries/documents/prices.ts'
import { objectText } from '../../http/cursor.ts'
import { fidParameter } from '../../http/parameters.ts'
import { json, route } from '../../http/route.ts'
import { agentPrices } from '../../schemas/documents/enriched.ts'

/** GET /api/agent/:fid/prices */
export const prices = route({
  path: '/api/agent/{fid}/prices',
  operationId: 'getPrices',
  summary: 'What an agent says that it asks for.',
  params: z.object({ fid: fidParameter }),
  answer: {
    type: json,
    schema: agentPrices,
    description:
      `From the documents on its hosts and from what its endpoints answer with 402; ${profileLimits.pricesOfDocument} of each at most. ` +
      'Nobody checked it, and none of it is counted as income.',
  },
  errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND'],
  maxAgeSeconds: 30,
  freshSeconds: 5,
  missing: 'no agent with this fid',
  async read({ fid }, { database }) {
    const found = await readPrices(database, fid)
    return found && objectText({ fid: `${fid}`, count: `${found.count}`, prices: found.prices })
  },
})
