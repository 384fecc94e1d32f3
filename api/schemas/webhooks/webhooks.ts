import { z } from 'zod'
import { webhookLimits } from '../../../config/limits.claims.ts'
import { webhookTypes } from '../../../trust/webhooks/types.ts'
import { claimRequest } from '../claims/claim.ts'
import { chainName, count, fid, time } from '../scalars.ts'

const id = z.string()
const url = z.string().meta({ description: 'https, on port 443, without a fragment; written as browsers write it.' })
const types = z.array(z.enum(webhookTypes))
const fids = z.array(fid).max(webhookLimits.fids)

const chains = z.array(chainName).max(webhookLimits.chains)
const minAmount = z.number().min(0).max(webhookLimits.minAmount)

const wishes = z.object({
  url: url.meta({ description: 'In the signed text, or in the payload as `url`, too.' }),
  types,
  fids: fids.optional().meta({ description: 'Whose events; absent: everybody’s.' }),
  chains: chains
    .optional()
    .meta({ description: 'Of events that name a chain, those on these; absent: on every chain.' }),
  min_amount: minAmount
    .optional()
    .meta({ description: 'Of settlements received, those of as many dollars; absent: all.' }),
})

/** Body of POST /api/webhooks. */
export const webhookRequest = z
  .union([claimRequest.options[0].extend(wishes.shape), claimRequest.options[1].extend(wishes.shape)])
  .meta({
    id: 'WebhookRequest',
    description: 'As a claim, with the text of the challenge; payload {…, action: "webhook", url}.',
  })

export const webhookAnswer = z
  .strictObject({
    ok: z.literal(true),
    id,
    fid,
    url,
    types,
    fids: fids.nullable(),
    chains: chains.nullable(),
    min_amount: minAmount.nullable(),
    secret: z.string().meta({ description: 'For signatures v1; said once.' }),
    public_key: z.string().meta({ description: 'For signatures v1a.' }),
    manage_token: z
      .string()
      .meta({ description: 'Said once; a new proof by a wallet, for the same address, takes the endpoint’s place.' }),
  })
  .meta({ id: 'WebhookAnswer' })

export const webhookShown = z
  .strictObject({
    id,
    fid,
    url,
    types,
    fids: fids.nullable(),
    chains: chains.nullable(),
    min_amount: minAmount.nullable(),
    created_at: time,
    secret_version: count.meta({ description: '1 at first; each rotation gives the next.' }),
    rotated_at: time.nullable(),
    after_seq: count.meta({ description: 'Events up to this one were sent, or are not wanted.' }),
    oldest_seq: count.nullable().meta({
      description:
        'The oldest event that is kept; null: none is. Events between `after_seq` and this one are not sent any more: ' +
        'the endpoint fell behind.',
    }),
    state: z.enum(['active', 'retrying', 'ended']),
    ended_for: z.enum(['gone', 'failed']).nullable(),
    ended_at: time.nullable(),
    failures: count.meta({ description: 'In a row.' }),
    last_success_at: time.nullable(),
    next_attempt_at: time
      .nullable()
      .meta({ description: 'Nothing is sent before: it failed, or was slow. null: as it comes.' }),
  })
  .meta({ id: 'Webhook' })

const outcome = z
  .string()
  .meta({ description: '`ok`, or a word for what was wrong: `timeout`, `tls_error`, `http_5xx`, …' })

export const webhookDeliveries = z
  .strictObject({
    id,
    count,
    deliveries: z.array(z.strictObject({ seq: count, at: time, outcome, elapsed_ms: count })),
  })
  .meta({ id: 'WebhookDeliveries' })

export const webhookPinged = z
  .strictObject({ ok: z.boolean(), outcome, elapsed_ms: count })
  .meta({ id: 'WebhookPinged' })
export const webhookRotated = z
  .strictObject({
    ok: z.literal(true),
    id,
    secret: z.string().meta({ description: 'For signatures v1; said once.' }),
    public_key: z.string().meta({ description: 'For signatures v1a.' }),
    previous_until: time.meta({ description: 'Until then messages are signed with the secret before as well.' }),
  })
  .meta({ id: 'WebhookRotated' })
export const webhookMoved = z.strictObject({ ok: z.literal(true), after_seq: count }).meta({ id: 'WebhookMoved' })
export const webhookDeleted = z.strictObject({ ok: z.literal(true), id }).meta({ id: 'WebhookDeleted' })
