import type { Request, RequestHandler } from 'express'
import { z } from 'zod'
import { webhookLimits } from '../../config/limits.claims.ts'
import { sources } from '../../config/sources.ts'
import { lockClaims } from '../../db/queries/claims/claims.ts'
import {
  deleteWebhook,
  deliveriesOf,
  moveWebhook,
  rotateWebhook,
  type ShownWebhook,
  webhookOfToken,
} from '../../db/queries/webhooks/endpoints.ts'
import { postMessage } from '../../net/webhook.ts'
import { hour, second } from '../../ops/time.ts'
import { overlapHours, signingKeys, webhookHeaders, webhookKeys } from '../../trust/webhooks/signature.ts'
import type { ClaimDeps } from '../claim/claim.ts'
import { parseFields } from '../claim/proof-method.ts'
import { readJsonBody } from '../claim/request.ts'
import { sendJson } from '../http/content.ts'
import { ApiError } from '../http/errors.ts'
import { countMessage, refuseMany, secretOf, tokenSha256 } from './register.ts'

const { name: source } = sources.webhooks
/** Ids that `register` may have given; nothing else is looked for. */
const idForm = /^wh-[\w-]{1,32}$/

/** Handles a request about the endpoint that the token in its header manages. */
export function withWebhook(
  deps: ClaimDeps,
  handle: (webhook: ShownWebhook, req: Request) => Promise<object>,
): RequestHandler {
  return async (req, res) => {
    const [, token = ''] = /^Bearer +(wht_[0-9a-f]+)$/i.exec(req.get('Authorization') ?? '') ?? []
    const id = String(req.params.id)
    const found =
      token !== '' &&
      idForm.test(id) &&
      (await webhookOfToken(deps.database, { id, tokenSha256: tokenSha256(token), source }))
    if (!found) throw new ApiError('ERR_NOT_FOUND', 'there is no such webhook, or its token is another')
    sendJson(res, await handle(found, req))
  }
}

export async function showDeliveries({ database }: ClaimDeps, { id }: ShownWebhook): Promise<object> {
  const deliveries = await deliveriesOf(database, id, webhookLimits.deliveries)
  return { id, count: deliveries.length, deliveries }
}

export async function endWebhook({ database, now }: ClaimDeps, { id }: ShownWebhook): Promise<object> {
  await deleteWebhook(database, id, new Date(now()))
  return { ok: true, id }
}

/** Sends an endpoint a message that is no event, and says what came of it. */
export async function ping(deps: ClaimDeps, { id, url, secret_version, rotated_at }: ShownWebhook): Promise<object> {
  await countUse(deps, id)
  const at = new Date(deps.now())
  const rotatedAt = rotated_at === null ? null : new Date(rotated_at)
  const keys = signingKeys(secretOf(deps), { id, version: secret_version, rotatedAt }, at)
  const body = JSON.stringify({ type: 'webhook.ping', timestamp: at.toISOString(), data: {} })
  const { outcome, elapsedMs } = await postMessage(deps.door, url, {
    body,
    headers: webhookHeaders(keys, { id: `${id}_ping_${at.getTime()}`, at, body }),
    maxBytes: 0,
    timeoutMs: webhookLimits.challengeSeconds * second,
  })
  return { ok: outcome === 'ok', outcome: outcome ?? 'busy', elapsed_ms: Math.round(elapsedMs) }
}

/** Gives an endpoint another secret; for a time, its messages are signed with the one before as well. */
export async function rotate(deps: ClaimDeps, { id }: ShownWebhook): Promise<object> {
  await countUse(deps, id)
  const master = secretOf(deps)
  const at = new Date(deps.now())
  const { secret, publicKey } = webhookKeys(master, id, await rotateWebhook(deps.database, id, at))
  const previousUntil = new Date(at.getTime() + overlapHours * hour).toISOString()
  return { ok: true, id, secret, public_key: publicKey, previous_until: previousUntil }
}

const place = z.object({
  after_seq: z.int('must be the number of an event, or 0').min(0, 'must be the number of an event, or 0'),
})

/** Has an endpoint sent what comes behind an event, again or for the first time, even if it had ended. */
export async function replay(deps: ClaimDeps, { id, fid }: ShownWebhook, req: Request): Promise<object> {
  await countUse(deps, id)
  const { after_seq } = parseFields(place, readJsonBody(req.body))
  const moved = await deps.transaction(async (db) => {
    await lockClaims(db, fid)
    await refuseMany(db, fid, { path: 'id', value: id })
    return moveWebhook(db, id, after_seq)
  })
  return { ok: true, after_seq: moved }
}

const countUse = (deps: ClaimDeps, id: string) =>
  countMessage(deps, `webhook:${id}`, { ...webhookLimits.uses, what: 'pings, replays and rotations of an endpoint' })
