import type { RequestHandler } from 'express'
import { z } from 'zod'
import type { ActionName } from '../../../db/queries/claims/claim-actions.ts'
import { createActions } from '../../claim/action.ts'
import type { ClaimDeps } from '../../claim/claim.ts'
import { sendJson } from '../../http/content.ts'
import { type Action, json } from '../../http/route.ts'
import { listingAnswer, ownerRequest, withdrawalAnswer, withdrawalRequest } from '../../schemas/claims/claim-actions.ts'
import { attemptOf, claim, readClaimBody } from './claim.ts'

function actionOf(
  action: ActionName,
  definition: Pick<Action<ClaimDeps>, 'summary' | 'description' | 'answer' | 'body'>,
) {
  return {
    ...definition,
    method: 'post',
    path: `/api/claim/${action}`,
    operationId: `${action}${action === 'withdraw' ? 'Claims' : 'Agent'}`,
    params: z.object({}),
    query: z.object({}),
    headers: claim.headers,
    errors: claim.errors,
    serve(deps) {
      const carryOut = createActions(deps)
      const handle: RequestHandler = async (req, res) => {
        sendJson(res, await carryOut(action, attemptOf(req)))
      }
      return [...readClaimBody, handle]
    },
  } satisfies Action<ClaimDeps> as Action<ClaimDeps>
}

/** POST /api/claim/withdraw */
export const withdraw = actionOf('withdraw', {
  summary: 'Withdraws the claims of a FID.',
  description:
    'By whoever could claim it, and by its custody address: the proofs of a claim with the words of a withdrawal. All ' +
    'standing claims end at once; what is to claim the FID again must be signed later.',
  body: withdrawalRequest,
  answer: { type: json, schema: withdrawalAnswer, description: 'What was withdrawn, oldest first.' },
})

/** POST /api/claim/unlist */
export const unlist = actionOf('unlist', {
  summary: 'Takes a FID out of the directory.',
  description:
    'By its custody address alone. Texts of the profile, listing, feed, bulk file and pages go; what lies on a chain stays.',
  body: ownerRequest,
  answer: { type: json, schema: listingAnswer, description: 'It is listed no more.' },
})

/** POST /api/claim/relist */
export const relist = actionOf('relist', {
  summary: 'Undoes that a FID was taken out of the directory.',
  description: 'By its custody address alone. The profile is read again from the network.',
  body: ownerRequest,
  answer: { type: json, schema: listingAnswer, description: 'It is listed when the rules of the index say so.' },
})
