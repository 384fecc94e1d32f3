import { randomBytes } from 'node:crypto'
import type { RequestHandler } from 'express'
import type { Hex } from 'viem'
import { z } from 'zod'
import { chainNames, chainOf } from '../../chains.config.ts'
import { claimMessage, type Terms } from '../../trust/claim-text.ts'
import { defaultChainId } from '../claim/eip191.ts'
import { addressParameter, fidParameter, refusals } from '../http/parameters.ts'

const chainIds = () => chainNames.map((name) => chainOf(name).id)

export const challengeQuery = z.object({
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

/** GET /api/claim/challenge: the text an eip191 claim signs, with a fresh nonce. Nothing is stored: any nonce will do. */
export function challenge({ now, ...terms }: Terms & { readonly now: () => number }): RequestHandler {
  return (req, res) => {
    const first = Object.fromEntries(Object.entries(req.query).map(([name, value]) => [name, [value].flat()[0]]))
    const query = challengeQuery.safeParse(first)
    if (!query.success) throw query.error.issues[0]?.path[0] === 'fid' ? refusals.fid() : refusals.address()
    const { fid, address, chain_id: chainId } = query.data
    const nonce = randomBytes(nonceBytes).toString('hex')
    const timestamp = new Date(now()).toISOString()
    const text = claimMessage(terms, { fid, address: address as Hex, chainId, nonce, timestamp })
    res.set('Cache-Control', 'no-store').json({ fid, address, chain_id: chainId, nonce, timestamp, text })
  }
}
