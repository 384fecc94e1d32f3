import type { RequestHandler } from 'express'
import type { z } from 'zod'
import { streamLimits } from '../../config/limits.ts'
import { inLane } from '../http/database-turns.ts'
import { clientOf } from '../http/rate-limit-key.ts'
import type { Operation, Sources } from '../http/route.ts'
import type { ConcurrencyLimit } from './concurrency.ts'
import { type Follow, Follower, type Log, type LogHead, type LogLine } from './follower.ts'
import { Reader } from './reader.ts'
import { isPlaceOf, readPlace, writeOpening, writeReset } from './wire.ts'

/**
 * A GET whose answer goes on: server-sent events of a log, from a place on. Like a Route of api/http/route.ts it says
 * everything about the request; it is listed in `streams` of api/routes.ts.
 */
export interface Stream<Q extends z.ZodObject = z.ZodObject> extends Operation<z.ZodObject, Q> {
  readonly description: string
  /** Schema of the request headers that it reads: Last-Event-ID. */
  readonly headers: z.ZodObject
  /** Place, from the query, after which to begin; undefined: at the newest line. */
  readonly since: (query: z.output<Q>) => string | undefined
  readonly wants: (query: z.output<Q>) => (line: LogLine) => boolean
  readonly log: (sources: Sources) => Log
}

/** The type of a stream is inferred from its query. */
export const stream = <Q extends z.ZodObject>(definition: Stream<Q>): Stream => definition as unknown as Stream

interface StreamDeps {
  readonly sources: Sources
  /** Bounds the open streams of this process, all kinds together. */
  readonly concurrency: ConcurrencyLimit
  readonly isStopping: () => boolean
  readonly onFailure: (cause: unknown) => void
}

const { lastSeconds, replay, retryMs } = streamLimits
const head = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no', // nginx must not buffer
}

/** The handler of a stream: answers 200 and goes on until the client leaves, or the stream has lasted long enough. */
export function serveStream(definition: Stream, deps: StreamDeps): RequestHandler {
  const { sources, concurrency } = deps
  const log = inOwnLane(definition.log(sources))
  const follower = new Follower({ ...deps, log, now: sources.now })
  return async (req, res) => {
    const query = definition.query.parse(req.query)
    if (req.method === 'HEAD') return void res.writeHead(200, head).end()
    if (!concurrency.take(clientOf(req.ip), res)) return
    const newest = await log.head()
    if (res.destroyed) return
    const now = sources.now()
    res.writeHead(200, head).write(writeOpening(retryMs, new Date(now)))
    const begin = beginOf(req.get('Last-Event-ID') || definition.since(query), newest)
    if (begin === undefined) return void res.end(writeReset(newest))
    const lasts = lastSeconds.least + Math.random() * (lastSeconds.most - lastSeconds.least)
    const reader = new Reader(res, now + lasts * 1_000)
    const follow: Follow = {
      reader,
      wants: definition.wants(query),
      epoch: newest.epoch,
      seq: begin,
      heardAt: now,
      busy: false,
    }
    follower.add(follow)
  }
}

/** Number after which to begin. Undefined: no place of this log, above the newest number, or too far behind it. */
function beginOf(text: string | undefined, newest: LogHead): number | undefined {
  if (text === undefined) return newest.head
  const place = readPlace(text)
  const isThere = place !== null && isPlaceOf(place, newest) && newest.head - place.seq <= replay
  return isThere ? place.seq : undefined
}

/** The log, whose statements wait in a line of their own: a stream outlives the deadline of its request. */
function inOwnLane(log: Log): Log {
  return {
    head: () => inLane('streams', 'streams', () => log.head()),
    after: (seq) => inLane('streams', 'streams', () => log.after(seq)),
  }
}
