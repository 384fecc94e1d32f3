import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { chainNames } from '../../config/chains.ts'
import { webhookLimits } from '../../config/limits.claims.ts'
import type { Queryable } from '../../db/pool.ts'
import { lockClaims } from '../../db/queries/claims/claims.ts'
import {
  deleteOldest,
  insertWebhook,
  isWebhookNonceUsed,
  standingWebhooks,
} from '../../db/queries/webhooks/endpoints.ts'
import { postMessage } from '../../net/webhook.ts'
import { second } from '../../ops/time.ts'
import { webhookHeaders, webhookKeys } from '../../trust/webhooks/signature.ts'
import { webhookTypes } from '../../trust/webhooks/types.ts'
import type { ClaimAttempt, ClaimDeps } from '../claim/claim.ts'
import { examineProof, type ReadProof, readProof } from '../claim/examination.ts'
import { invalidFields, parseFields } from '../claim/proof-method.ts'
import { readJsonBody } from '../claim/request.ts'
import { ApiError } from '../http/errors.ts'

const idBytes = 9
const tokenBytes = 24
const challengeBytes = 24

const wishes = z.object({
  url: z.string('must be a string'),
  types: z
    .array(z.enum(webhookTypes, `must be of ${webhookTypes.join(', ')}`), 'must be a list')
    .min(1, 'must name a type')
    .max(webhookTypes.length, `must be at most ${webhookTypes.length}`)
    .transform((types) => [...new Set(types)]),
  fids: z
    .array(z.int('must be an integer').positive('must be positive'), 'must be a list')
    .min(1, 'must name a fid, or be left out')
    .max(webhookLimits.fids, `must be at most ${webhookLimits.fids}`)
    .transform((fids) => [...new Set(fids)])
    .optional(),
  chains: z
    .array(z.string('must be the name of a chain'), 'must be a list')
    .min(1, 'must name a chain, or be left out')
    .max(webhookLimits.chains, `must be at most ${webhookLimits.chains}`)
    .refine(
      (chains) => chains.every((name) => chainNames.includes(name)),
      'must be names of chains that this service indexes',
    )
    .transform((chains) => [...new Set(chains)])
    .optional(),
  min_amount: z
    .number('must be dollars')
    .min(0, 'must not be below 0')
    .max(webhookLimits.minAmount, 'must be less')
    .optional(),
})

/** Body of a 200 answer to a registration: secret and token are said once. */
interface Registered {
  readonly ok: true
  readonly id: string
  readonly fid: number
  readonly url: string
  readonly types: readonly string[]
  readonly fids: readonly number[] | null
  readonly chains: readonly string[] | null
  readonly min_amount: number | null
  readonly secret: string
  readonly public_key: string
  readonly manage_token: string
}

/** SHA-256 of a token, which is random enough to be stored so. */
export const tokenSha256 = (token: string) => createHash('sha256').update(token).digest()

/**
 * Registers endpoints. The account proves that it wants this address to be sent events, and the address that it wants them:
 * it answers a challenge. Without either, anybody could aim the service at a stranger.
 */
export function createRegistrations(deps: ClaimDeps): (attempt: Omit<ClaimAttempt, 'dryRun'>) => Promise<Registered> {
  return async ({ client, ...sent }) => {
    const secret = secretOf(deps)
    const attempt = readProof(sent, 'webhook', ['eip191', 'jfs'], deps).read()
    const { url, types, fids = null, chains = null, min_amount = null } = parseFields(wishes, readJsonBody(sent.body))
    const refuse = () => refuseUsed(deps, attempt)
    const used = { refuse, refuseManifest: refuse }
    const { byCustody } = await examineProof(attempt, used, { attempts: deps.attempts, client })
    await refuse()
    // By an app key nobody takes the place of an endpoint: its holder may be an app that the account no longer trusts.
    const room = { path: 'url', value: attempt.method === 'eip191' ? url : undefined } as const
    if (!byCustody) await refuseMany(deps.database, attempt.fid, room)
    await countMessage(deps, `webhook challenge:${attempt.fid}`, {
      ...webhookLimits.challenges,
      what: 'challenges for a FID',
    })
    const id = `wh-${randomBytes(idBytes).toString('base64url').replaceAll('_', '-')}`
    const at = new Date(deps.now())
    const keys = webhookKeys(secret, id)
    await challenge(deps, { id, url, at, keys })
    const token = `wht_${randomBytes(tokenBytes).toString('hex')}`
    const { fid, method, proof, proofSha256 } = attempt
    const wanted = { url, types, fids, chains, minAmount: min_amount }
    const proven = { fid, method, nonce: proof.nonce, proofSha256, tokenSha256: tokenSha256(token) }
    await deps.transaction(async (db) => {
      await lockClaims(db, fid)
      await refuseUsed({ ...deps, database: db }, attempt)
      if (byCustody) await deleteOldest(db, fid, { of: 'standing', keep: webhookLimits.ofFid - 1, at })
      else await refuseMany(db, fid, room)
      await deleteOldest(db, fid, { of: 'ended', keep: webhookLimits.ofFid, at })
      await insertWebhook(db, { id, ...wanted, ...proven, createdAt: at })
    })
    return {
      ok: true,
      id,
      fid,
      url,
      types,
      fids,
      chains,
      min_amount,
      secret: keys.secret,
      public_key: keys.publicKey,
      manage_token: token,
    }
  }
}

/** Has an endpoint agree. Throws ERR_PAYLOAD_INVALID when it does not answer its challenge. */
async function challenge(
  { door }: Pick<ClaimDeps, 'door'>,
  {
    id,
    url,
    at,
    keys,
  }: { readonly id: string; readonly url: string; readonly at: Date; readonly keys: ReturnType<typeof webhookKeys> },
): Promise<void> {
  const word = randomBytes(challengeBytes).toString('hex')
  const body = JSON.stringify({ type: 'webhook.challenge', timestamp: at.toISOString(), data: { challenge: word } })
  const { outcome, text } = await postMessage(door, url, {
    body,
    headers: webhookHeaders([keys], { id: `${id}_challenge`, at, body }),
    maxBytes: webhookLimits.answerBytes,
    timeoutMs: webhookLimits.challengeSeconds * second,
  })
  if (outcome === 'ok' && answers(text, word)) return
  const found = outcome === 'ok' ? 'another answer' : (outcome ?? 'busy')
  throw invalidFields([{ path: 'url', problem: `must answer the challenge that it is sent: ${found}` }])
}

/** The secret of this service's webhooks. Throws ERR_NOT_FOUND: it has none. */
export function secretOf({ webhookSecret }: Pick<ClaimDeps, 'webhookSecret'>): string {
  if (webhookSecret !== undefined) return webhookSecret
  throw new ApiError('ERR_NOT_FOUND', 'this service sends no webhooks: its operator has set no WEBHOOK_SECRET')
}

/** Throws ERR_RATE_LIMITED when too many messages were asked for: each is a request to somebody's host. */
export async function countMessage(
  { attempts }: Pick<ClaimDeps, 'attempts'>,
  key: string,
  limit: { readonly attempts: number; readonly seconds: number; readonly what: string },
): Promise<void> {
  const { attempts: most, seconds: windowSeconds, what } = limit
  const { attempts: made, leftMs } = await attempts.count(key, windowSeconds)
  if (made <= most) return
  throw new ApiError('ERR_RATE_LIMITED', `at most ${most} ${what} in ${windowSeconds} seconds`, {
    limits: { attempts: most, windowSeconds },
    retryAfterSeconds: Math.ceil(leftMs / 1_000),
  })
}

/** Throws when a nonce was accepted before. */
async function refuseUsed({ database }: Pick<ClaimDeps, 'database'>, { fid, method, proof }: ReadProof): Promise<void> {
  const fields = { fid, method, nonce: proof.nonce }
  if (await isWebhookNonceUsed(database, fields))
    throw new ApiError('ERR_NONCE_USED', 'a proof needs a nonce that was not used yet', fields)
}

/**
 * Throws when an account has as many endpoints as it may. `value`: id or address of the one that would be sent events, which
 * may be among them, undefined if it is not; `path`: the field that is refused.
 */
export async function refuseMany(
  db: Queryable,
  fid: number,
  { path, value }: { readonly path: 'id' | 'url'; readonly value?: string | undefined },
): Promise<void> {
  if ((await standingWebhooks(db, fid, value)) < webhookLimits.ofFid) return
  const problem = `must be one of at most ${webhookLimits.ofFid} of the fid; delete one, wait until it ends, or prove it by the custody address`
  throw invalidFields([{ path, problem }])
}

/** Whether an answer is the challenge, as text or as JSON. */
function answers(text: string, challenge: string): boolean {
  if (text.trim() === challenge) return true
  try {
    return (JSON.parse(text) as { challenge?: unknown } | null)?.challenge === challenge
  } catch {
    return false
  }
}
