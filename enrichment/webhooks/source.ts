import type pg from 'pg'
import {
  type Attempt,
  endFailuresInARow,
  eventsFor,
  storeSending,
  type WebhookEvent,
  type WebhookToSend,
  waitingOf,
  webhookToSend,
} from '../../db/queries/webhooks/sending.ts'
import { createHost, HostClosed } from '../../hosts/host.ts'
import { readRetryAfter } from '../../hosts/retry-after.ts'
import { webhookLimits } from '../../limits.config.ts'
import type { Door } from '../../net/door.ts'
import { postMessage } from '../../net/webhook.ts'
import { jittered } from '../../ops/backoff.ts'
import { day, hour, minute, second } from '../../ops/time.ts'
import { sources } from '../../sources.config.ts'
import { signingKeys, webhookHeaders } from '../../trust/webhooks/signature.ts'
import type { Reading, Source } from '../schedule/source.ts'

interface WebhooksOptions {
  readonly pool: pg.Pool
  readonly door: Pick<Door, 'fetch'>
  /** Secret that the keys of all endpoints are derived from. */
  readonly secret: string
  readonly baseUrl: string
  readonly now: () => Date
}

const { cadenceMs, name } = sources.webhooks
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

/**
 * Source that sends each endpoint the events behind the last one that it had, in order. An event is sent again until it is
 * taken, under the same id; only then comes the next.
 */
export function webhooks(options: WebhooksOptions): Source {
  const { pool, now } = options
  return {
    ...sources.webhooks,
    host: createHost({ name: 'webhooks', requestsPerSecond: Number.POSITIVE_INFINITY, now }),

    async read([leased]): Promise<Reading> {
      const { subject = '', failures = 0 } = leased ?? {}
      const endpoint = await webhookToSend(pool, subject.slice(subject.indexOf(':') + 1))
      if (!endpoint) return { outcome: 'gone', write: async () => undefined }
      const { events, head } = await eventsFor(pool, endpoint, eventsARead)
      const { attempts, afterSeq, failed, isPostponed } = await sendInOrder(endpoint, events, failures, options)
      // Nobody was asked, which ends no failures in a row.
      if (isPostponed && attempts.length === 0)
        throw new HostClosed('the host of an endpoint is busy', new Date(now().getTime() + cadenceMs.postponed))
      const isThrough = events.length < eventsARead && attempts.length === events.length && !failed
      const isOver = failed !== undefined && failed.waitMs === undefined
      let isMoved = false
      return {
        outcome: failed?.outcome ?? (isPostponed ? 'postponed' : 'ok'),
        get failed() {
          return failed !== undefined && !isOver && !isMoved
        },
        async write(db) {
          await storeSending(db, endpoint, {
            afterSeq: isThrough ? Math.max(afterSeq, head) : afterSeq,
            attempts,
            endedFor: isOver ? (failed.status === goneStatus ? 'gone' : 'failed') : null,
            now: now(),
          })
          const waiting = await waitingOf(db, name, endpoint)
          // A replay during the attempt woke nobody, because the endpoint was being sent to; and it takes back what the
          // attempt says of failures.
          isMoved = waiting.isMoved
          if (isMoved) return 0
          if (isOver) return undefined
          if (failed && attempts.length > 1) await endFailuresInARow(db, name, endpoint.id)
          if (failed) return jittered(failed.waitMs as number, Math.random)
          if (isPostponed) return cadenceMs.postponed
          return waiting.wantsMore ? 0 : cadenceMs.all
        },
      }
    },
  }
}

/** Sends events until one is not taken, or others have their turn. */
async function sendInOrder(
  endpoint: WebhookToSend,
  events: readonly WebhookEvent[],
  failures: number,
  { door, secret, baseUrl, now }: WebhooksOptions,
): Promise<Sent> {
  const { id, url, afterSeq: from } = endpoint
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
