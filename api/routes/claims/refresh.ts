import { z } from 'zod'
import { claimLimits } from '../../../config/limits.claims.ts'
import type { ClaimDeps } from '../../claim/claim.ts'
import { createRefresh } from '../../claim/refresh.ts'
import { sendJson } from '../../http/content.ts'
import { fidParameter, refusals } from '../../http/parameters.ts'
import { clientOf } from '../../http/rate-limit-key.ts'
import { type Action, json } from '../../http/route.ts'
import { fid } from '../../schemas/scalars.ts'

const { fid: perFid, client: perClient } = claimLimits.refreshes
const often = ({ attempts, seconds }: typeof perFid | typeof perClient) => `${attempts} times in ${seconds} seconds`

const answer = z
  .strictObject({
    ok: z.literal(true),
    fid,
    outcome: z.enum(['changed', 'unchanged', 'unavailable']),
    asked: z.array(z.enum(['hub', 'registry'])),
  })
  .meta({ id: 'RefreshAnswer' })

/** POST /api/agent/:fid/refresh */
export const refresh: Action<ClaimDeps> = {
  method: 'post',
  path: '/api/agent/{fid}/refresh',
  operationId: 'refreshAgent',
  summary: 'Asks the network and the registries now about an agent.',
  description:
    'changed: the agent is read again, and shows it shortly. unavailable: somebody who had to be asked did not answer. ' +
    `A FID can be asked about ${often(perFid)}, by a client ${often(perClient)}.`,
  params: z.object({ fid: fidParameter }),
  query: z.object({}),
  answer: { type: json, schema: answer, description: 'Who was asked, and what it came to.' },
  errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND', 'ERR_RATE_LIMITED'],
  serve(deps) {
    const ask = createRefresh(deps)
    return [
      async (req, res) => {
        const read = fidParameter.safeParse(req.params.fid)
        if (!read.success) throw refusals.fid()
        sendJson(res, await ask(read.data, clientOf(req.ip)))
      },
    ]
  },
}
