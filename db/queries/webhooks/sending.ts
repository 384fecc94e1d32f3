import { webhookLimits } from '../../../config/limits.claims.ts'
import type { SecretOf } from '../../../trust/webhooks/signature.ts'
import type { Queryable } from '../../pool.ts'
import { isoTime } from '../sql/json-text.ts'
import { stored, wantsSuch } from './wishes.ts'

/** An event of which an endpoint is told. */
export interface WebhookEvent {
  readonly seq: number
  readonly type: string
  readonly fid: number
  readonly at: string
  /** JSON of an object, whose numbers a JavaScript number would round. */
  readonly data: string
}

/** An endpoint that is sent events, with the next that it wants, in order. */
export interface WebhookToSend extends SecretOf {
  readonly url: string
  readonly moves: number
  /** It has had what comes before. */
  readonly afterSeq: number
  readonly events: readonly WebhookEvent[]
  /** Up to here it wants nothing else, unless `events` are as many as were asked for. */
  readonly seenTo: number
  /** Whether that is up to the newest event. */
  readonly isAll: boolean
}

/** Events that are looked at for an endpoint at once, whether or not its chains and amounts are among them. */
const mostLookedAt = 200

/** Fewest events that are looked at of one FID, or type, among many of them. */
const fewestOfOne = 20

/**
 * The next events of each type, or FID, that an endpoint `w` names, behind the one up to which it was sent all:
 * the more it names, the fewer of each. Up to `through` these are all: what lies behind the last one of some type or FID that
 * has more is looked at another time.
 */
const nextOf = (list: string, column: string) => `
       select e.*, case when row_number() over (partition by wanted.one order by e.seq) = w.each then e.seq end as through
         from unnest(${list}) as wanted (one)
        cross join lateral (
          select e.* from webhook_event e where e.${column} = wanted.one and e.seq > w.sent_to order by e.seq limit w.each) e`

/** Whether an event `e` may be sent: of an account that left the directory only that it left. */
const isShown = `(e.type = 'agent.delisted' or not exists (select from unlisted u where u.fid = e.fid))`

/**
 * Endpoints with the next events that they want, `events` at most; in no order, without those to which nothing is sent any more.
 * What they do not want is walked over in pieces: `seenTo` says how far.
 */
export async function webhooksToSend(
  db: Queryable,
  ids: readonly string[],
  events: number,
): Promise<readonly WebhookToSend[]> {
  const { rows } = await db.query<WebhookToSend>({
    name: 'webhooks-to-send',
    text: `
with head as materialized (select coalesce(max(seq), 0) as seq from webhook_event),
asked as materialized (
  select w.*, coalesce(s.after_seq, w.after_seq) as sent_to,
         least($3::int, greatest(${fewestOfOne}, 2 * $3::int / greatest(cardinality(coalesce(w.fids::text[], w.types)), 1))) as each
    from unnest($1::text[]) as wanted (id)
    join webhook w using (id)
    left join webhook_standing s on s.id = w.id and s.moves = w.moves
   where w.deleted_at is null and s.ended_at is null)
select w.id, w.url, w.moves, w.secret_version as version, w.rotated_at as "rotatedAt", w.sent_to as "afterSeq", next.*
  from asked w
 cross join head
 cross join lateral (
   with next as materialized (${nextOf('case when w.fids is null then w.types end', 'type')}
        union all ${nextOf('w.fids', 'fid')}),
   looked as materialized (
     select * from next where seq <= (select coalesce(min(through), head.seq) from next) order by seq limit $3)
   select is_all as "isAll", case when is_all then head.seq else last_seq end as "seenTo",
          (select coalesce(json_agg(json_build_object('seq', seq, 'type', type, 'fid', fid, 'at', ${isoTime('at')},
                                                      'data', data::text) order by seq), '[]')
             from (select e.* from looked e where ${wantsSuch(stored)} and ${isShown} order by e.seq limit $2) e) as events
     from (select count(*) < $3 and not exists (select from next where through is not null) as is_all, max(seq) as last_seq
             from looked) done) next`,
    values: [ids, events, mostLookedAt],
  })
  return rows
}

/** Outcome of a row of events after which an endpoint rests, because it was slow to answer: no event wakes it before. */
export const slowOutcome = 'slow'

/** An attempt to send an event. */
export interface Attempt {
  readonly seq: number
  readonly at: Date
  readonly outcome: string
  readonly elapsedMs: number
}

/** What was sent to an endpoint. */
export interface Sending extends Pick<WebhookToSend, 'id' | 'moves'> {
  readonly attempts: readonly Attempt[]
  /** It has had what comes before, or does not want it. */
  readonly afterSeq: number
  /** Whether that is up to the newest event when it was taken. */
  readonly isAll: boolean
  /** Why nothing is sent there any more; null: it is. */
  readonly endedFor: 'gone' | 'failed' | null
}

/** Stores what was sent to some endpoints, and how far. */
export async function storeSendings(db: Queryable, sendings: readonly Sending[], now: Date): Promise<void> {
  const attempts = sendings.flatMap(({ id, attempts }) => attempts.map((attempt) => ({ id, ...attempt })))
  const successOf = ({ attempts }: Sending) => attempts.findLast(({ outcome }) => outcome === 'ok')?.at ?? null
  await db.query({
    name: 'store-webhook-sendings',
    text: `
with sent as (
  select * from unnest($1::text[], $2::int[], $3::bigint[], $4::timestamptz[], $5::text[], $6::int[])
             as sent (id, moves, after_seq, last_success_at, ended_for, attempts)),
standing as (
  insert into webhook_standing as s (id, moves, after_seq, last_success_at, ended_at, ended_for)
  select id, moves, after_seq, last_success_at, case when ended_for is not null then $7::timestamptz end, ended_for from sent
      on conflict (id) do update
     set moves = excluded.moves, after_seq = excluded.after_seq,
         last_success_at = coalesce(excluded.last_success_at, s.last_success_at),
         ended_at = excluded.ended_at, ended_for = excluded.ended_for),
old as (
  delete from webhook_delivery d
   using (select sent.id, last.at, last.seq from sent
           cross join lateral (select at, seq from webhook_delivery l where l.id = sent.id
                                order by at desc, seq desc offset $8 - sent.attempts limit 1) last) kept
   where d.id = kept.id and (d.at, d.seq) <= (kept.at, kept.seq))
insert into webhook_delivery (id, seq, at, outcome, elapsed_ms)
select * from unnest($9::text[], $10::bigint[], $11::timestamptz[], $12::text[], $13::int[])
    on conflict do nothing`,
    values: [
      sendings.map(({ id }) => id),
      sendings.map(({ moves }) => moves),
      sendings.map(({ afterSeq }) => afterSeq),
      sendings.map(successOf),
      sendings.map(({ endedFor }) => endedFor),
      sendings.map(({ attempts }) => attempts.length),
      now,
      webhookLimits.deliveriesKept,
      attempts.map(({ id }) => id),
      attempts.map(({ seq }) => seq),
      attempts.map(({ at }) => at),
      attempts.map(({ outcome }) => outcome),
      attempts.map(({ elapsedMs }) => elapsedMs),
    ],
  })
}

/** What an endpoint waits for after an attempt. */
interface Waiting {
  /** Whether its account has moved it since the attempt began. */
  readonly isMoved: boolean
  /** Whether it may want an event that it was not sent. */
  readonly wantsMore: boolean
}

/** What endpoints wait for, by id. Call it where nobody can wake them until the transaction ends. */
export async function waitingOf(db: Queryable, sendings: readonly Sending[]): Promise<ReadonlyMap<string, Waiting>> {
  const { rows } = await db.query<Waiting & { readonly id: string }>({
    name: 'webhooks-waiting',
    text: `
select w.id, w.moves <> sent.moves as "isMoved",
       not sent.is_all or exists (
         select from webhook_event e
          where e.seq > sent.after_seq and ${wantsSuch(stored)} and (w.fids is null or e.fid = any (w.fids))) as "wantsMore"
  from unnest($1::text[], $2::int[], $3::bigint[], $4::boolean[]) as sent (id, moves, after_seq, is_all)
  join webhook w using (id)`,
    values: [
      sendings.map(({ id }) => id),
      sendings.map(({ moves }) => moves),
      sendings.map(({ afterSeq }) => afterSeq),
      sendings.map(({ isAll }) => isAll),
    ],
  })
  return new Map(rows.map((row) => [row.id, row]))
}
