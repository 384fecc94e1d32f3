import type pg from 'pg'
import { webhookLimits } from '../../config/limits.claims.ts'
import { sources } from '../../config/sources.ts'
import {
  type Attempt,
  type Sending,
  slowOutcome,
  storeSendings,
  type WebhookEvent,
  type WebhookToSend,
  waitingOf,
  webhooksToSend,
} from '../../db/queries/webhooks/sending.ts'
import { createHost, HostClosed } from '../../hosts/host.ts'
import { readRetryAfter } from '../../hosts/retry-after.ts'
import type { Door } from '../../net/door.ts'
import { postMessage } from '../../net/webhook.ts'
import { batched } from '../../ops/batched.ts'
import { day, hour, jittered, minute, second } from '../../ops/time.ts'
import { signingKeys, webhookHeaders } from '../../trust/webhooks/signature.ts'
import type { Answer, ManySource, Next } from '../schedule/source.ts'

interface WebhooksOptions {
  readonly pool: pg.Pool
  readonly door: Pick<Door, 'fetch'>
  /** Secret that the keys of all endpoints are derived from. */
  readonly secret: string
  readonly baseUrl: string
  readonly now: () => Date
}

const { cadenceMs } = sources.webhooks
/** Pauses after failures in a row, before the next attempt; after the last one nothing is sent there any more. */
const pauses = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
] as const
/** An endpoint answers so when it wants no more: RFC 9110, Gone. */
const goneStatus = 410
/** Most events that are sent to an endpoint in a row, and milliseconds after which others have their turn. */
const eventsARead = 20
const longestReadMs = 2 * second

/**
 * Who takes longer than that is next sent to after so many times as long, whatever comes meanwhile: those that are slow hold a
 * fifth of a place each, and others have the rest.
 */
const slowRest = 4

/** How a row of events went. */
interface Sent {
  readonly attempts: readonly Attempt[]
  /** The last event that arrived. */
  readonly afterSeq: number
  /** Why it ended early, with the pause before the next attempt; undefined: there is none. */
  readonly failed?: {
    readonly outcome: string
    readonly status: number | undefined
    readonly waitMs: number | undefined
  }
  /** Whether it ended early because nobody could be asked. */
  readonly isPostponed?: true
}

/** What is stored of a row of events; undefined: there is no such endpoint any more. */
interface SentAnswer extends Answer {
  readonly sending: Sending | undefined
  /** When the endpoint is next if nobody has moved it. */
  next(wantsMore: boolean): Next
}

/**
 * Source that sends each endpoint the events behind the last one that it had, in order. An event is sent again until it is
 * taken, under the same id; only then comes the next.
 */
export function webhooks(options: WebhooksOptions): ManySource<SentAnswer> {
  const { pool, now } = options
  const take = batched(async (ids: readonly string[]) => {
    const found = new Map((await webhooksToSend(pool, ids, eventsARead)).map((endpoint) => [endpoint.id, endpoint]))
    return ids.map((id) => found.get(id))
  })
  return {
    ...sources.webhooks,
    host: createHost({ name: 'webhooks', requestsPerSecond: Number.POSITIVE_INFINITY, now }),

    async read([leased]): Promise<SentAnswer> {
      const { subject = '', failures = 0 } = leased ?? {}
      const endpoint = await take(subject.slice(subject.indexOf(':') + 1))
      if (!endpoint) return { outcome: 'gone', sending: undefined, next: () => never }
      const sent = await sendInOrder(endpoint, failures, options)
      // Nobody was asked, which ends no failures in a row.
      if (sent.isPostponed && sent.attempts.length === 0)
        throw new HostClosed('the host of an endpoint is busy', new Date(now().getTime() + cadenceMs.postponed))
      return answerOf(endpoint, sent, failures)
    },

    async writeAll(db, answers): Promise<readonly Next[]> {
      const sendings = answers.flatMap(({ sending }) => sending ?? [])
      await storeSendings(db, sendings, now())
      const waiting = await waitingOf(db, sendings)
      return answers.map(({ sending, next }) => {
        const { isMoved, wantsMore } = (sending && waiting.get(sending.id)) ?? { isMoved: false, wantsMore: false }
        // A replay during the attempt woke nobody, because the endpoint was being sent to; and it takes back what the
        // attempt says of failures.
        return isMoved ? atOnce : next(wantsMore)
      })
    },
  }
}

const never: Next = { inMs: undefined, failures: 0 }
const atOnce: Next = { inMs: 0, failures: 0 }

function answerOf(
  { id, moves, events, seenTo, isAll }: WebhookToSend,
  { attempts, afterSeq, failed, isPostponed }: Sent,
  failures: number,
): SentAnswer {
  const isThrough = events.length < eventsARead && attempts.length === events.length && !failed
  const slowestMs = Math.max(0, ...attempts.map(({ elapsedMs }) => elapsedMs))
  const restMs = slowestMs > longestReadMs ? slowRest * slowestMs : 0
  const isOver = failed !== undefined && failed.waitMs === undefined
  const sending = {
    id,
    moves,
    attempts,
    afterSeq: isThrough ? Math.max(afterSeq, seenTo) : afterSeq,
    isAll: isThrough && isAll,
    endedFor: isOver ? (failed.status === goneStatus ? 'gone' : 'failed') : null,
  } as const
  return {
    outcome: failed?.outcome ?? (restMs > 0 ? slowOutcome : isPostponed ? 'postponed' : 'ok'),
    sending,
    next(wantsMore) {
      if (isOver) return never
      // What arrived before ended the failures in a row.
      if (failed)
        return {
          inMs: jittered(failed.waitMs as number, Math.random),
          failures: attempts.length > 1 ? 1 : failures + 1,
        }
      if (restMs > 0) return { inMs: restMs, failures: 0 }
      if (isPostponed) return { inMs: cadenceMs.postponed, failures: 0 }
      return wantsMore ? atOnce : { inMs: jittered(cadenceMs.all, Math.random), failures: 0 }
    },
  }
}

/** Sends events until one is not taken, or others have their turn. */
async function sendInOrder(
  endpoint: WebhookToSend,
  failures: number,
  { door, secret, baseUrl, now }: WebhooksOptions,
): Promise<Sent> {
  const { id, url, events, afterSeq: from } = endpoint
  const keys = signingKeys(secret, endpoint, now())
  const send = (event: WebhookEvent) => {
    const body = messageOf(event, baseUrl)
    const headers = webhookHeaders(keys, { id: `${id}_${event.seq}`, at: now(), body })
    return postMessage(door, url, { body, headers, maxBytes: 0, timeoutMs: webhookLimits.answerSeconds * second })
  }
  const attempts: Attempt[] = []
  const begun = performance.now()
  let afterSeq = from
  for (const event of events) {
    if (performance.now() - begun > longestReadMs) break
    const { outcome, status, retryAfter, elapsedMs } = await send(event)
    if (outcome === null) return { attempts, afterSeq, isPostponed: true }
    attempts.push({ seq: event.seq, at: now(), outcome, elapsedMs: Math.round(elapsedMs) })
    if (outcome !== 'ok') {
      const pause = status === goneStatus ? undefined : pauses[attempts.length === 1 ? failures : 0]
      const asked = Math.min(readRetryAfter(retryAfter, now().getTime()) ?? 0, day)
      return { attempts, afterSeq, failed: { outcome, status, waitMs: pause && Math.max(pause, asked) } }
    }
    afterSeq = event.seq
  }
  return { attempts, afterSeq }
}

function messageOf({ seq, type, fid, at, data }: WebhookEvent, baseUrl: string): string {
  const common = JSON.stringify({ seq, fid, profile_url: `${baseUrl}/api/agent/${fid}` })
  const members = [common, data].map((object) => object.slice(1, -1)).filter((text) => text !== '')
  return `{"type":${JSON.stringify(type)},"timestamp":${JSON.stringify(at)},"data":{${members.join(',')}}}`
}
