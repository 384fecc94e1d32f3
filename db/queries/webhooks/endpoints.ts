import type { Queryable } from '../../pool.ts'
import { isoTime } from '../sql/json-text.ts'
import { slowOutcome } from './sending.ts'

interface NewWebhook {
  readonly id: string
  readonly fid: number
  readonly url: string
  readonly types: readonly string[]
  /** Null: everybody's. */
  readonly fids: readonly number[] | null
  /** Of events that name a chain, only those on these; null: on every chain. */
  readonly chains: readonly string[] | null
  /** Of events of a payment, only those of as many dollars; null: of every payment. */
  readonly minAmount: number | null
  readonly method: string
  readonly nonce: string
  readonly proofSha256: Buffer
  readonly tokenSha256: Buffer
  readonly createdAt: Date
}

/**
 * Stores an endpoint, which is sent what comes from now on. Proven by a wallet, it takes the place of those of its account
 * at the same address, which end, and is sent what they were not. Call it under `lockClaims`, when its nonce is known to be free.
 */
export async function insertWebhook(db: Queryable, one: NewWebhook): Promise<void> {
  await db.query({
    name: 'insert-webhook',
    text: `
with replaced as (
  update webhook set deleted_at = $10
   where fid = $2 and url = $3 and deleted_at is null and $6 = 'eip191' returning id, moves, after_seq)
insert into webhook (id, fid, url, types, fids, method, nonce, proof_sha256, token_sha256, created_at, chains, min_amount, after_seq)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, coalesce(
  (select max(coalesce(s.after_seq, r.after_seq))
     from replaced r left join webhook_standing s on s.id = r.id and s.moves = r.moves),
  (select coalesce(max(seq), 0) from webhook_event)))`,
    values: [
      one.id,
      one.fid,
      one.url,
      one.types,
      one.fids,
      one.method,
      one.nonce,
      one.proofSha256,
      one.tokenSha256,
      one.createdAt,
      one.chains,
      one.minAmount,
    ],
  })
}

/** Whether a nonce was accepted before. */
export async function isWebhookNonceUsed(
  db: Queryable,
  { fid, method, nonce }: Pick<NewWebhook, 'fid' | 'method' | 'nonce'>,
): Promise<boolean> {
  const { rows } = await db.query<{ isUsed: boolean }>({
    name: 'is-webhook-nonce-used',
    text: 'select exists (select from webhook where fid = $1 and method = $2 and nonce = $3) as "isUsed"',
    values: [fid, method, nonce],
  })
  return rows[0]?.isUsed === true
}

/** The endpoint `w` is sent nothing any more. */
const hasEnded = `
  exists (select from webhook_standing s where s.id = w.id and s.moves = w.moves and s.ended_at is not null)`

/** How many endpoints of an account are sent events, besides the one with this id or address. */
export async function standingWebhooks(db: Queryable, fid: number, other: string | undefined): Promise<number> {
  const { rows } = await db.query<{ standing: number }>({
    name: 'standing-webhooks',
    text: `
select count(*) as standing from webhook w
 where w.fid = $1 and w.id is distinct from $2 and w.url is distinct from $2
   and w.deleted_at is null and not ${hasEnded}`,
    values: [fid, other ?? null],
  })
  return rows[0]?.standing ?? 0
}

/** An endpoint as its account sees it. */
export interface ShownWebhook {
  readonly id: string
  readonly fid: number
  readonly url: string
  readonly types: string[]
  readonly fids: number[] | null
  readonly chains: string[] | null
  readonly min_amount: number | null
  readonly created_at: string
  readonly secret_version: number
  readonly rotated_at: string | null
  readonly after_seq: number
  readonly oldest_seq: number | null
  readonly state: 'active' | 'retrying' | 'ended'
  readonly ended_for: string | null
  readonly ended_at: string | null
  readonly failures: number
  readonly last_success_at: string | null
  readonly next_attempt_at: string | null
}

/** The endpoint that a token manages. Undefined: there is no such endpoint, or the token is another. */
export async function webhookOfToken(
  db: Queryable,
  { id, tokenSha256, source }: { readonly id: string; readonly tokenSha256: Buffer; readonly source: string },
): Promise<ShownWebhook | undefined> {
  const { rows } = await db.query<ShownWebhook>({
    name: 'webhook-of-token',
    text: `
select w.id, w.fid, w.url, w.types, w.fids, w.chains, w.min_amount::float8 as min_amount,
       ${isoTime('w.created_at')} as created_at, w.secret_version, ${isoTime('w.rotated_at')} as rotated_at,
       coalesce(s.after_seq, w.after_seq) as after_seq, (select min(seq) from webhook_event) as oldest_seq,
       case when s.ended_at is not null then 'ended' when q.failures > 0 then 'retrying' else 'active' end as state,
       s.ended_for, ${isoTime('s.ended_at')} as ended_at, coalesce(q.failures, 0) as failures,
       ${isoTime('s.last_success_at')} as last_success_at,
       case when q.failures > 0 or q.last_outcome = '${slowOutcome}' then ${isoTime('q.due_at')} end as next_attempt_at
  from webhook w
  left join webhook_standing s on s.id = w.id and s.moves = w.moves
  left join source_state q on q.source = $3 and q.subject = 'webhook:' || w.id
 where w.id = $1 and w.token_sha256 = $2 and w.deleted_at is null`,
    values: [id, tokenSha256, source],
  })
  return rows[0]
}

/** Deletes the oldest endpoints of an account that are sent events, or that ended, so that at most `keep` are left of these. */
export async function deleteOldest(
  db: Queryable,
  fid: number,
  { of, keep, at }: { readonly of: 'standing' | 'ended'; readonly keep: number; readonly at: Date },
): Promise<void> {
  await db.query({
    name: `delete-oldest-${of}-webhooks`,
    text: `
update webhook set deleted_at = $3
 where id in (select w.id from webhook w
               where w.fid = $1 and w.deleted_at is null and ${of === 'ended' ? hasEnded : `not ${hasEnded}`}
               order by w.created_at desc, w.id offset $2)`,
    values: [fid, keep, at],
  })
}

/** Gives an endpoint its next secret. Returns which. */
export async function rotateWebhook(db: Queryable, id: string, at: Date): Promise<number> {
  const { rows } = await db.query<{ version: number }>({
    name: 'rotate-webhook',
    text: `update webhook set secret_version = secret_version + 1, rotated_at = $2 where id = $1
           returning secret_version as version`,
    values: [id, at],
  })
  return rows[0]?.version ?? 1
}

export async function deleteWebhook(db: Queryable, id: string, at: Date): Promise<void> {
  await db.query({ name: 'delete-webhook', text: 'update webhook set deleted_at = $2 where id = $1', values: [id, at] })
}

/**
 * Has an endpoint sent what comes behind an event, again or for the first time, even if it had ended. Resolves to the number
 * of that event: the newest, where it was given a number that no event has yet.
 */
export async function moveWebhook(db: Queryable, id: string, afterSeq: number): Promise<number> {
  const { rows } = await db.query<{ seq: number }>({
    name: 'move-webhook',
    text: `update webhook
              set after_seq = least($2, (select coalesce(max(e.seq), 0) from webhook_event e)), moves = moves + 1
            where id = $1
           returning after_seq::float8 as seq`,
    values: [id, afterSeq],
  })
  return rows[0]?.seq ?? afterSeq
}

interface ShownDelivery {
  readonly seq: number
  readonly at: string
  readonly outcome: string
  readonly elapsed_ms: number
}

/** The newest attempts to send to an endpoint. */
export async function deliveriesOf(db: Queryable, id: string, limit: number): Promise<ShownDelivery[]> {
  const { rows } = await db.query<ShownDelivery>({
    name: 'deliveries-of',
    text: `select seq, ${isoTime('at')} as at, outcome, elapsed_ms from webhook_delivery
            where id = $1 order by at desc, seq desc limit $2`,
    values: [id, limit],
  })
  return rows
}
