import { z } from 'zod'
import { fidFacts } from '../../../db/queries/agents/explain.ts'
import { explainFid } from '../../explain/explanation.ts'
import { fidParameter, largestFid } from '../../http/parameters.ts'
import { json, route } from '../../http/route.ts'
import { agentExplanation } from '../../schemas/agents/explain.ts'

/** GET /api/agent/:fid/explain */
export const explainAgent = route({
  path: '/api/agent/{fid}/explain',
  operationId: 'explainAgent',
  summary: 'Why an account is listed as an agent, or is not, and what to do next.',
  params: z.object({ fid: fidParameter }),
  answer: {
    type: json,
    schema: agentExplanation,
    description: 'Each rule with what was found; for any FID.',
  },
  errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND'],
  tool: {
    name: 'explain_agent',
    use: 'Why an agent is listed as it is: which verifications, transfers and claims its status follows from.',
  },
  maxAgeSeconds: 30,
  freshSeconds: 5,
  missing: 'there is no FID that large',
  async read({ fid }, { database }) {
    if (fid === largestFid) return undefined
    const facts = await fidFacts(database, fid)
    return facts && JSON.stringify(explainFid(fid, facts))
  },
})
