import type { RequestHandler } from 'express'
import { z } from 'zod'
import { webhookLimits } from '../../../config/limits.claims.ts'
import { overlapHours } from '../../../trust/webhooks/signature.ts'
import type { ClaimDeps } from '../../claim/claim.ts'
import { sendJson } from '../../http/content.ts'
import { type Action, json } from '../../http/route.ts'
import {
  webhookAnswer,
  webhookDeleted,
  webhookDeliveries,
  webhookMoved,
  webhookPinged,
  webhookRequest,
  webhookRotated,
  webhookShown,
} from '../../schemas/webhooks/webhooks.ts'
import { endWebhook, ping, replay, rotate, showDeliveries, withWebhook } from '../../webhooks/manage.ts'
import { createRegistrations } from '../../webhooks/register.ts'
import { attemptOf, claim, readClaimBody } from '../claims/claim.ts'

const path = '/api/webhooks/{id}'
const params = z.object({ id: z.string() })
const query = z.object({})
const { challengeSeconds, uses, ofFid, deliveries } = webhookLimits
const often = `${uses.attempts} of them in ${uses.seconds} seconds.`

/** POST /api/webhooks */
const register: Action<ClaimDeps> = {
  method: 'post',
  path: '/api/webhooks',
  operationId: 'registerWebhook',
  summary: 'Registers an endpoint that is sent events.',
  description:
    `With a proof as for a claim, over a text of its own: \`action=webhook\` of the challenge, with \`url\`. The endpoint is sent a ` +
    `message \`webhook.challenge\`, and has to answer with its \`challenge\` within ${challengeSeconds} seconds. At most ${ofFid} a FID.`,
  params: z.object({}),
  query,
  headers: claim.headers as z.ZodObject,
  body: webhookRequest,
  answer: { type: json, schema: webhookAnswer, description: 'It is sent what happens from now on.' },
  errors: [...claim.errors, 'ERR_NOT_FOUND'],
  serve(deps) {
    const carryOut = createRegistrations(deps)
    const handle: RequestHandler = async (req, res) => sendJson(res, await carryOut(attemptOf(req)))
    return [...readClaimBody, handle]
  },
}

const about = (
  definition: Pick<
    Action<ClaimDeps>,
    'method' | 'path' | 'operationId' | 'summary' | 'description' | 'answer' | 'serve'
  > &
    Partial<Action<ClaimDeps>>,
): Action<ClaimDeps> => ({ params, query, token: 'webhookToken', errors: ['ERR_NOT_FOUND'], ...definition })

/** Requests about webhooks: one that registers, and those of whoever has an endpoint's token. */
export const webhookActions: readonly Action<ClaimDeps>[] = [
  register,
  about({
    method: 'get',
    path,
    operationId: 'getWebhook',
    summary: 'How an endpoint stands.',
    description:
      'ended: nothing is sent there any more, because it answered 410 or nothing arrived for about 76 hours.',
    answer: { type: json, schema: webhookShown, description: 'The endpoint.' },
    serve: (deps) => [withWebhook(deps, async (webhook) => webhook)],
  }),
  about({
    method: 'delete',
    path,
    operationId: 'deleteWebhook',
    summary: 'Ends an endpoint.',
    description: 'Nothing is sent there any more, but for a message that is on its way.',
    answer: { type: json, schema: webhookDeleted, description: 'It is ended.' },
    serve: (deps) => [withWebhook(deps, (webhook) => endWebhook(deps, webhook))],
  }),
  about({
    method: 'get',
    path: `${path}/deliveries`,
    operationId: 'listWebhookDeliveries',
    summary: 'Attempts to send to an endpoint.',
    description: `The newest ${deliveries}, of the last 30 days.`,
    answer: { type: json, schema: webhookDeliveries, description: 'The attempts, newest first.' },
    serve: (deps) => [withWebhook(deps, (webhook) => showDeliveries(deps, webhook))],
  }),
  about({
    method: 'post',
    path: `${path}/ping`,
    operationId: 'pingWebhook',
    summary: 'Sends an endpoint a message to try it.',
    description: `A message \`webhook.ping\`, now. With replays and rotations, ${often}`,
    answer: { type: json, schema: webhookPinged, description: 'What came of it.' },
    errors: ['ERR_NOT_FOUND', 'ERR_RATE_LIMITED'],
    serve: (deps) => [withWebhook(deps, (webhook) => ping(deps, webhook))],
  }),
  about({
    method: 'post',
    path: `${path}/rotate`,
    operationId: 'rotateWebhook',
    summary: 'Gives an endpoint another secret.',
    description: `Messages are signed with both for ${overlapHours} hours, then with the new one alone. With pings and replays, ${often}`,
    answer: { type: json, schema: webhookRotated, description: 'The new secret, said once.' },
    errors: ['ERR_NOT_FOUND', 'ERR_RATE_LIMITED'],
    serve: (deps) => [withWebhook(deps, (webhook) => rotate(deps, webhook))],
  }),
  about({
    method: 'post',
    path: `${path}/replay`,
    operationId: 'replayWebhook',
    summary: 'Sends an endpoint the events behind one again.',
    description: `Under the ids that they had. It also revives an endpoint that ended. With pings and rotations, ${often}`,
    body: z.object({ after_seq: z.int().min(0) }).meta({ id: 'WebhookReplay' }),
    answer: { type: json, schema: webhookMoved, description: 'They are sent shortly.' },
    errors: ['ERR_NOT_FOUND', 'ERR_PAYLOAD_INVALID', 'ERR_RATE_LIMITED'],
    serve: (deps) => [...readClaimBody, withWebhook(deps, (webhook, req) => replay(deps, webhook, req))],
  }),
]
