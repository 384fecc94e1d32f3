import { z } from 'zod'
import { socialRegistriesOf } from '../../../config/chains.file.ts'
import { claimLimits } from '../../../config/limits.claims.ts'
import { claimProofs } from '../../../db/queries/claims/claim-proofs.ts'
import { minute, second } from '../../../ops/time.ts'
import { fidParameter } from '../../http/parameters.ts'
import { json, route } from '../../http/route.ts'
import { claimProof } from '../../schemas/claims/proof.ts'

const wait = `${(claimLimits.proofWaitSeconds * second) / minute} minutes`

/** GET /api/agent/:fid/proof */
export const proof = route({
  path: '/api/agent/{fid}/proof',
  operationId: 'getClaimProof',
  summary: 'Everything that it takes to check the claim of an agent without asking this service.',
  params: z.object({ fid: fidParameter }),
  answer: {
    type: json,
    schema: claimProof,
    description: `Of the newest claim that stands, else of the newest; from ${wait} after it. Checked by verify-proof.`,
  },
  errors: ['ERR_FID_INVALID', 'ERR_NOT_FOUND'],
  signable: true,
  maxAgeSeconds: 30,
  freshSeconds: 5,
  missing: `no claim of this fid was accepted more than ${wait} ago`,
  async read({ fid }, { database, now, serviceName, baseUrl, siteUrl, chains }) {
    const terms = { serviceName, baseUrl, siteUrl, registries: socialRegistriesOf(chains) }
    const proof = (await claimProofs(database, { fids: [fid], now: new Date(now()), terms })).get(fid)
    return proof && JSON.stringify(proof)
  },
})
