import type pg from 'pg'
import { Agent, type Dispatcher, request } from 'undici'
import type { z } from 'zod'
import { restHost, spendRequest } from '../db/queries/host-budgets.ts'
import { createHost, type Host, HostClosed } from './host.ts'
import { hour, minute, second } from './source.ts'
import { UpstreamError } from './upstream-error.ts'

export interface UpstreamOptions {
  /** Of the host, in the database too. */
  readonly name: string
  /** Base address, which the operator chose: no guard against it is needed. */
  readonly url: string
  readonly requestsPerSecond: number
  /** Requests in a UTC day, over all processes and restarts; null: any number. */
  readonly perDay: number | null
  readonly headers?: Readonly<Record<string, string>>
  readonly pool: pg.Pool
  readonly now: () => Date
  /** For one answer, from the request to its last byte. */
  readonly timeoutMs?: number
}

export interface Question {
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON by POST; absent: GET. */
  readonly body?: unknown
  /** The version that is known: the answer may be that it still is the one. */
  readonly etag?: string | null
}

export type Answer<T> =
  | { readonly status: 'ok'; readonly content: T; readonly etag: string | null }
  | { readonly status: 'unchanged' }
  /** The host says that there is no such thing. */
  | { readonly status: 'nothing' }

/** One host with a fixed address: its pace, its budget, its wishes, and answers that are what they should be. */
export interface Upstream {
  readonly host: Host
  /** Throws UpstreamError when there is no answer, HostClosed when nobody may be asked now. */
  ask<T>(question: Question, schema: z.ZodType<T>): Promise<Answer<T>>
}

const defaultTimeoutMs = 10 * second
const mostBodyBytes = 2 * 1024 * 1024
const mostConnections = 4
/** When a host has had enough without saying for how long. */
const restMs = minute
const [shortestRestMs, longestRestMs] = [second, hour]

export function createUpstream(options: UpstreamOptions): Upstream {
  const { name, requestsPerSecond, perDay, pool, now, timeoutMs = defaultTimeoutMs } = options
  const base = options.url.replace(/\/+$/, '')
  const host = createHost({ name, requestsPerSecond, now })
  const dispatcher = new Agent({ connections: mostConnections, pipelining: 1 })
  const stopping = new AbortController()

  async function rest(ms: number) {
    host.restFor(ms)
    await restHost(pool, { host: name, until: new Date(now().getTime() + ms), now: now() })
  }

  async function spend() {
    const until = await spendRequest(pool, { host: name, perDay, now: now() })
    if (until === undefined) return
    host.restFor(until.getTime() - now().getTime())
    throw new HostClosed(`${name} is asked no more until ${until.toISOString()}`, until)
  }

  async function send({ path, headers, body, etag }: Question): Promise<Received> {
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), stopping.signal])
    try {
      const answer = await request(`${base}${path}`, {
        dispatcher,
        signal,
        method: body === undefined ? 'GET' : 'POST',
        body: body === undefined ? undefined : JSON.stringify(body),
        headers: {
          accept: 'application/json',
          // Compressed answers could grow far beyond the cap while they are unpacked.
          'accept-encoding': 'identity',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(etag && { 'if-none-match': etag }),
          ...options.headers,
          ...headers,
        },
      })
      return { status: answer.statusCode, headers: answer.headers, text: await readText(answer) }
    } catch (cause) {
      if (stopping.signal.aborted) throw new HostClosed('this process is stopping', now())
      if (cause instanceof UpstreamError) throw cause
      const reason = signal.aborted ? `no whole answer within ${timeoutMs} ms` : (cause as Error).message
      throw new UpstreamError('unavailable', `${name}: ${reason}`, { cause })
    }
  }

  return {
    host: {
      ...host,
      stop() {
        host.stop()
        stopping.abort()
        void dispatcher.destroy()
      },
    },

    async ask(question, schema) {
      await host.slot()
      await spend()
      const received = await send(question)
      const wishMs = wishOf(received, now())
      if (wishMs !== undefined) await rest(wishMs)
      const where = `${name} ${question.path.split('?', 1)[0]}`.slice(0, 200)
      const { status, headers, text } = received
      if (status === 304 && question.etag) return { status: 'unchanged' }
      if (status === 404 && saysNothing(text)) return { status: 'nothing' }
      if (status !== 200) throw failureOf(where, received, wishMs)
      const encoding = headers['content-encoding'] ?? 'identity'
      if (encoding !== 'identity') throw new UpstreamError('bad_answer', `${where}: sent ${encoding}, not plain JSON`)
      const parsed = schema.safeParse(parseJson(where, text))
      if (parsed.success) return { status: 'ok', content: parsed.data, etag: etagOf(headers) }
      const issue = parsed.error.issues[0]
      throw new UpstreamError('bad_answer', `${where}: ${issue?.path.join('.')}: ${issue?.message}`)
    },
  }
}

interface Received {
  readonly status: number
  readonly headers: Dispatcher.ResponseData['headers']
  readonly text: string
}

/**
 * Milliseconds for which the host wants no requests; undefined: it does not mind. Sources: RFC 9110 10.2.3; GitHub's
 * `x-ratelimit-reset` is in Unix seconds and its secondary limit a 403; Blockscout's is in milliseconds from now.
 */
function wishOf({ status, headers, text }: Received, now: Date): number | undefined {
  const exhausted = one(headers['x-ratelimit-remaining'])?.trim() === '0'
  const after = one(headers['retry-after'])?.trim()
  const limited = status === 429 || (status === 403 && (after || exhausted || /rate limit/i.test(text)))
  if (!limited && !exhausted && !(status === 503 && after)) return undefined
  const ms = after ? retryMs(after, now) : resetMs(one(headers['x-ratelimit-reset']), now)
  return Math.min(longestRestMs, Math.max(shortestRestMs, ms ?? restMs))
}

function retryMs(text: string, now: Date): number | undefined {
  const ms = /^\d+$/.test(text) ? Number(text) * second : Date.parse(text) - now.getTime()
  return Number.isNaN(ms) ? undefined : ms
}

/** Beyond any number of milliseconds that somebody would be asked to wait. */
const aUnixTime = 1_000_000_000

function resetMs(text: string | undefined, now: Date): number | undefined {
  if (!text || !/^\d+$/.test(text)) return undefined
  const reset = Number(text)
  return reset >= aUnixTime ? reset * second - now.getTime() : reset
}

function failureOf(where: string, { status }: Received, wishMs: number | undefined): UpstreamError {
  const message = `${where}: status ${status}`
  if (wishMs !== undefined && status >= 400) {
    return new UpstreamError('rate_limited', message, { retryAfterSeconds: Math.ceil(wishMs / second) })
  }
  if (status >= 500) return new UpstreamError('unavailable', message)
  return new UpstreamError(status >= 400 ? 'refused' : 'bad_answer', message)
}

/** A 404 of the service itself, which speaks JSON; a proxy's page says nothing about the subject. */
function saysNothing(text: string): boolean {
  return /^\s*\{/.test(text) && /not found|invalid identity/i.test(text)
}

function etagOf(headers: Received['headers']): string | null {
  const etag = one(headers.etag)
  return etag !== undefined && /^[\x20-\x7e]{1,256}$/.test(etag) ? etag : null
}

async function readText({ body }: Dispatcher.ResponseData): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of body as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > mostBodyBytes) throw new UpstreamError('bad_answer', `an answer of more than ${mostBodyBytes} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function parseJson(where: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new UpstreamError('bad_answer', `${where}: not JSON: ${text.slice(0, 40)}`, { cause })
  }
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
