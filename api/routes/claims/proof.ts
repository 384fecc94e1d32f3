import { z } from 'zod'
import { claimHistory, provableClaim } from '../../../db/queries/read/claim-proof.ts'
import { claimLimits } from '../../../limits.config.ts'
import { minute, second } from '../../../ops/time.ts'
import { publishedProof } from '../../claim/published-proof.ts'
import { fidParameter } from '../../http/parameters.ts'
import { json, route } from '../../http/route.ts'
import { claimProof } from '../../schemas/proof.ts'

/** A proof that anybody could send elsewhere while its time is taken is shown to nobody. */
const waitMs = claimLimits.proofWaitSeconds * second
const wait = `${waitMs / minute} minutes`

/** GET /api/agent/:fid/proof */
export const proof = route({
  path: '/api/agent/{fid}/proof',
  operationId: 'getClaimProof',
  summary: 'Everything that it takes to check the claim of an agent without asking this service.',
  params: z.object({ fid: fidParameter }),
  query: z.object({}),
  answer: {
    type: json,
    schema: claimProof,
    description: `Of the newest claim that stands, else of the newest; from ${wait} after it. Checked by verify-proof.`,
  },
  errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND'],
  maxAgeSeconds: 30,
  freshSeconds: 5,
  missing: `no claim of this fid was accepted more than ${wait} ago`,
  async read({ fid }, { database, now, serviceName, baseUrl, siteUrl }) {
    const claim = await provableClaim(database, fid, new Date(now() - waitMs))
    if (!claim) return undefined
    const history = await claimHistory(database, fid)
    return JSON.stringify(publishedProof(fid, claim, history, { serviceName, baseUrl, siteUrl }))
  },
})
