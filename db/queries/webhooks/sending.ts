import { webhookLimits } from '../../../limits.config.ts'
import type { SecretOf } from '../../../trust/webhooks/signature.ts'
import type { Queryable } from '../../pool.ts'
import { isoTime } from '../sql/json-text.ts'
import { stored, wantsSuch } from './wishes.ts'

/** An endpoint that is sent events. */
export interface WebhookToSend extends SecretOf {
  readonly url: string
  readonly moves: number
  /** It has had what comes before. */
  readonly afterSeq: number
}

/** Where an endpoint stands: what was set last counts, by the account or by what was sent. */
const standing = `
  from webhook w
  left join webhook_standing s on s.id = w.id and s.moves = w.moves`
const sentTo = 'coalesce(s.after_seq, w.after_seq)'
const wants = `${wantsSuch(stored)} and (w.fids is null or e.fid = any (w.fids))`

/** Undefined: nothing is sent there any more. */
export async function webhookToSend(db: Queryable, id: string): Promise<WebhookToSend | undefined> {
  const { rows } = await db.query<WebhookToSend>({
    name: 'webhook-to-send',
    text: `select w.id, w.url, w.moves, w.secret_version as version, w.rotated_at as "rotatedAt", ${sentTo} as "afterSeq" ${standing}
            where w.id = $1 and w.deleted_at is null and s.ended_at is null`,
    values: [id],
  })
  return rows[0]
}

export interface WebhookEvent {
  readonly seq: number
  readonly type: string
  readonly fid: number
  readonly at: string
  /** JSON of an object, whose numbers a JavaScript number would round. */
  readonly data: string
}

/** The next events that an endpoint wants, in order, and the newest of all; 0: there is none. */
export async function eventsFor(
  db: Queryable,
  { id, afterSeq }: Pick<WebhookToSend, 'id' | 'afterSeq'>,
  limit: number,
): Promise<{ readonly events: WebhookEvent[]; readonly head: number }> {
  const { rows } = await db.query<{ events: WebhookEvent[]; head: number }>({
    name: 'events-for-webhook',
    text: `
select (select coalesce(max(seq), 0) from webhook_event) as head,
       (select coalesce(json_agg(json_build_object('seq', seq, 'type', type, 'fid', fid, 'at', ${isoTime('at')}, 'data', data::text)
                                 order by seq), '[]')
          from (select e.*
                  from webhook w
                 cross join lateral (
                   (select e.* from webhook_event e
                     where w.fids is null and e.seq > $2 and ${wantsSuch(stored)} order by e.seq limit $3)
                    union all
                   select e.* from unnest(w.fids) as wanted (fid)
                    cross join lateral (
                      select e.* from webhook_event e
                       where e.fid = wanted.fid and e.seq > $2 and ${wantsSuch(stored)} order by e.seq limit $3) e) e
                 where w.id = $1 order by e.seq limit $3) next) as events`,
    values: [id, afterSeq, limit],
  })
  return rows[0] as { events: WebhookEvent[]; head: number }
}

/** What an endpoint waits for after an attempt. */
interface Waiting {
  /** Whether its account has moved it since the attempt began. */
  readonly isMoved: boolean
  /** Whether it wants events that it was not sent. */
  readonly wantsMore: boolean
}

/** What an endpoint waits for. Lets nobody wake it until the transaction ends. */
export async function waitingOf(
  db: Queryable,
  source: string,
  { id, moves }: Pick<WebhookToSend, 'id' | 'moves'>,
): Promise<Waiting> {
  await db.query({
    name: 'lock-webhook-subject',
    text: 'select from source_state where source = $1 and subject = $2 for update',
    values: [source, `webhook:${id}`],
  })
  const { rows } = await db.query<Waiting>({
    name: 'webhook-waiting',
    text: `select w.moves <> $2 as "isMoved",
                  exists (select from webhook_event e where e.seq > ${sentTo} and ${wants}) as "wantsMore" ${standing}
            where w.id = $1`,
    values: [id, moves],
  })
  return rows[0] ?? { isMoved: false, wantsMore: false }
}

/** Ends the failures in a row of an endpoint, because something arrived; a failure after that is the first. */
export async function endFailuresInARow(db: Queryable, source: string, id: string): Promise<void> {
  await db.query({
    name: 'end-webhook-failures',
    text: 'update source_state set failures = 0 where source = $1 and subject = $2',
    values: [source, `webhook:${id}`],
  })
}

export interface Attempt {
  readonly seq: number
  readonly at: Date
  readonly outcome: string
  readonly elapsedMs: number
}

/** Stores what was sent to an endpoint, and how far; `endedFor`: nothing is sent there any more. */
export async function storeSending(
  db: Queryable,
  { id, moves }: Pick<WebhookToSend, 'id' | 'moves'>,
  {
    afterSeq,
    attempts,
    endedFor,
    now,
  }: {
    readonly afterSeq: number
    readonly attempts: readonly Attempt[]
    readonly endedFor: string | null
    readonly now: Date
  },
): Promise<void> {
  const successes = attempts.filter(({ outcome }) => outcome === 'ok').map(({ at }) => at.getTime())
  await db.query({
    name: 'store-webhook-sending',
    text: `
with standing as (
  insert into webhook_standing as s (id, moves, after_seq, last_success_at, ended_at, ended_for)
  values ($1, $7, $8, $9, case when $10::text is not null then $11::timestamptz end, $10)
      on conflict (id) do update
     set moves = excluded.moves, after_seq = excluded.after_seq,
         last_success_at = coalesce(excluded.last_success_at, s.last_success_at),
         ended_at = excluded.ended_at, ended_for = excluded.ended_for),
old as (
  delete from webhook_delivery
   where id = $1 and (at, seq) <= (select at, seq from webhook_delivery where id = $1
                                    order by at desc, seq desc offset $6 limit 1))
insert into webhook_delivery (id, seq, at, outcome, elapsed_ms)
select $1, * from unnest($2::bigint[], $3::timestamptz[], $4::text[], $5::int[])
    on conflict do nothing`,
    values: [
      id,
      attempts.map(({ seq }) => seq),
      attempts.map(({ at }) => at),
      attempts.map(({ outcome }) => outcome),
      attempts.map(({ elapsedMs }) => elapsedMs),
      webhookLimits.deliveriesKept - attempts.length,
      moves,
      afterSeq,
      successes.length > 0 ? new Date(Math.max(...successes)) : null,
      endedFor,
      now,
    ],
  })
}
