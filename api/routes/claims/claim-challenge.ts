import { randomBytes } from 'node:crypto'
import type { Hex } from 'viem'
import { z } from 'zod'
import { chainNames, chainOf } from '../../../config/chains.ts'
import { liveAddresses, standingOf } from '../../../db/queries/verifications/verified-addresses.ts'
import { claimActions, claimMessage } from '../../../trust/claim-text.ts'
import type { ClaimDeps } from '../../claim/claim.ts'
import { defaultChainId } from '../../claim/eip191.ts'
import { endpointOf, invalidFields } from '../../claim/proof-method.ts'
import { claimMethods } from '../../claim/request.ts'
import { sendJson } from '../../http/content.ts'
import { ApiError } from '../../http/errors.ts'
import { addressParameter, fidParameter, refusals } from '../../http/parameters.ts'
import { type Action, json } from '../../http/route.ts'
import { challengeAnswer } from '../../schemas/claims/claim.ts'

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

/** Query parameters `method` and `action`; without both the challenge is the text of an eip191 claim. */
const wanted = z.object({
  method: z
    .unknown()
    .optional()
    .meta({
      description: 'What will prove it; default: eip191.',
      override: { type: 'string', enum: [...claimMethods] },
    }),
  action: z
    .unknown()
    .optional()
    .meta({
      description: 'What it will say; default: claim.',
      override: { type: 'string', enum: [...claimActions] },
    }),
  url: z
    .unknown()
    .optional()
    .meta({
      description: 'Where events are to be sent; webhook alone.',
      override: { type: 'string' },
    }),
  host: z
    .unknown()
    .optional()
    .meta({
      description: 'Where the manifest will be; well-known alone.',
      override: { type: 'string' },
    }),
})

/** GET /api/claim/challenge */
export const challenge: Action<ClaimDeps> = {
  method: 'get',
  path: '/api/claim/challenge',
  operationId: 'getClaimChallenge',
  summary: 'What a claim, a withdrawal or a webhook signs or publishes, with a fresh nonce.',
  description: 'A convenience: nothing is stored, and any nonce and time of the claimant’s own do as well.',
  params: z.object({}),
  query: query.extend({
    ...wanted.shape,
    address: addressParameter.optional().meta({
      description: 'The EVM address that will sign, in any case; eip191 alone, which needs it.',
      override: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' },
    }),
  }),
  answer: { type: json, schema: challengeAnswer, description: 'The challenge.' },
  errors: ['ERR_FID_INVALID', 'ERR_ADDRESS_MALFORMED', 'ERR_METHOD_UNSUPPORTED'],
  serve: (deps) => [
    async (req, res) => {
      const first = Object.fromEntries(Object.entries(req.query).map(([name, value]) => [name, [value].flat()[0]]))
      sendJson(res, await challengeOf(first, deps))
    },
  ],
}

async function challengeOf(asked: Readonly<Record<string, unknown>>, deps: ClaimDeps): Promise<object> {
  const nonce = randomBytes(nonceBytes).toString('hex')
  const now = deps.now()
  const timestamp = new Date(now).toISOString()
  const isPlain = asked.method === undefined && asked.action === undefined
  const { method = claimMethods[0], action = claimActions[0] } = asked
  if (!isOneOf(claimMethods, method)) {
    const supported = [...claimMethods]
    throw new ApiError('ERR_METHOD_UNSUPPORTED', `method must be one of ${supported.join(', ')}`, { supported })
  }
  if (!isOneOf(claimActions, action)) {
    throw invalidFields([{ path: 'action', problem: `must be one of ${claimActions.join(', ')}` }])
  }
  const endpoint = action === 'webhook' ? endpointOf(asked) : undefined
  const signed = { nonce, timestamp, expires_at: new Date(now + deps.windowSeconds * 1_000).toISOString() }
  if (method === 'eip191') {
    const read = query.safeParse(asked)
    if (!read.success) throw read.error.issues[0]?.path[0] === 'fid' ? refusals.fid() : refusals.address()
    const { fid, address, chain_id: chainId } = read.data
    const text = claimMessage(deps, { fid, address: address as Hex, chainId, nonce, timestamp, url: endpoint }, action)
    if (isPlain) return { fid, address, chain_id: chainId, nonce, timestamp, text }
    return { fid, method, action, address, chain_id: chainId, ...signed, text }
  }
  const read = fidParameter.safeParse(asked.fid)
  if (!read.success) throw refusals.fid()
  const fid = read.data
  if (method === 'jfs') {
    return {
      fid,
      method,
      action,
      ...signed,
      payload: { aud: deps.baseUrl, action, fid, nonce, timestamp, ...(endpoint !== undefined && { url: endpoint }) },
    }
  }
  const host = String(asked.host ?? '').toLowerCase()
  const { serviceName: service } = deps
  const url = `https://${host}/.well-known/${service}.json`
  if (URL.parse(url)?.host !== host) throw invalidFields([{ path: 'host', problem: 'must be the name of a host' }])
  if (action === 'claim') {
    // Of an account that took itself out nobody is told the addresses, and anybody may ask for a challenge.
    const { unlisted } = await standingOf(deps.database, fid)
    const addresses = unlisted ? [] : ((await liveAddresses(deps.database, [fid])).get(fid) ?? [])
    return { fid, method, action, host, url, ...signed, manifest: { service, host, fid, addresses, nonce, timestamp } }
  }
  if (action !== 'withdraw') throw invalidFields([{ path: 'method', problem: `must be eip191 or jfs to ${action}` }])
  return {
    fid,
    method,
    action,
    host,
    url,
    ...signed,
    manifest: { service, host, fid, withdrawn: true, nonce, timestamp },
  }
}

function isOneOf<T>(all: readonly T[], one: unknown): one is T {
  return all.includes(one as T)
}
