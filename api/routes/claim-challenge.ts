import { randomBytes } from 'node:crypto'
import type { Hex } from 'viem'
import { z } from 'zod'
import { chainNames, chainOf } from '../../chains.config.ts'
import { claimMessage } from '../../trust/claim-text.ts'
import type { ClaimDeps } from '../claim/claim.ts'
import { defaultChainId } from '../claim/eip191.ts'
import { addressParameter, fidParameter, refusals } from '../http/parameters.ts'
import { type Action, json } from '../http/route.ts'
import { challengeAnswer } from '../schemas/claim.ts'

const chainIds = () => chainNames.map((name) => chainOf(name).id)

const query = z.object({
  fid: fidParameter,
  address: addressParameter,
  chain_id: z
    .unknown()
    .optional()
    .transform((text) => chainIds().find((id) => String(id) === text) ?? defaultChainId())
    .meta({
      description: 'Where a contract wallet is; plain keys need none.',
      override: ({ jsonSchema }) => {
        Object.assign(jsonSchema, { type: 'integer', enum: chainIds(), default: defaultChainId() })
      },
    }),
})

const nonceBytes = 16

/** GET /api/claim/challenge */
export const challenge: Action<ClaimDeps> = {
  method: 'get',
  path: '/api/claim/challenge',
  operationId: 'getClaimChallenge',
  summary: 'The text that an eip191 claim signs, with a fresh nonce.',
  description: 'A convenience: nothing is stored, and any nonce and time of the claimant’s own do as well.',
  params: z.object({}),
  query,
  answer: { type: json, schema: challengeAnswer, description: 'The challenge.' },
  errors: ['ERR_FID_INVALID', 'ERR_ADDRESS_MALFORMED'],
  serve: ({ now, ...terms }) => [
    (req, res) => {
      const first = Object.fromEntries(Object.entries(req.query).map(([name, value]) => [name, [value].flat()[0]]))
      const asked = query.safeParse(first)
      if (!asked.success) throw asked.error.issues[0]?.path[0] === 'fid' ? refusals.fid() : refusals.address()
      const { fid, address, chain_id: chainId } = asked.data
      const nonce = randomBytes(nonceBytes).toString('hex')
      const timestamp = new Date(now()).toISOString()
      const text = claimMessage(terms, { fid, address: address as Hex, chainId, nonce, timestamp })
      res.set('Cache-Control', 'no-store').json({ fid, address, chain_id: chainId, nonce, timestamp, text })
    },
  ],
}
