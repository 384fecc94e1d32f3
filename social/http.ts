import { Agent, type Dispatcher, request } from 'undici'
import type { z } from 'zod'
import { SocialError } from './errors.ts'

export interface SocialHttpOptions {
  /** Base address, without a path. */
  readonly url: string
  readonly headers?: Record<string, string>
  /** Waited for before every request: the caller's pace. */
  readonly slot?: () => Promise<void>
  /** For one answer, from the request to its last byte. */
  readonly timeoutMs?: number
}

export interface SocialHttp {
  /**
   * GET of a path with parameters, parsed. Undefined when the host says that there is nothing, which is for `isNothing`
   * to tell from an error's status and body. Throws SocialError.
   */
  get<T>(path: string, query: Query, schema: z.ZodType<T>, isNothing?: IsNothing): Promise<T | undefined>
  close(): Promise<void>
}

export type Query = Record<string, string | number | boolean | undefined>
export type IsNothing = (status: number, body: string) => boolean

const defaultTimeoutMs = 10_000
const mostBodyBytes = 2 * 1024 * 1024
const mostConnections = 4
const longestRetrySeconds = 3_600

/** Requests to one host of the social network, which the operator named: no guard against its address is needed. */
export function createSocialHttp({
  url,
  headers = {},
  slot,
  timeoutMs = defaultTimeoutMs,
}: SocialHttpOptions): SocialHttp {
  const base = url.replace(/\/+$/, '')
  const { host } = new URL(base)
  const dispatcher = new Agent({ connections: mostConnections, pipelining: 1 })

  async function ask(path: string, query: Query) {
    await slot?.()
    const signal = AbortSignal.timeout(timeoutMs)
    try {
      const answer = await request(`${base}${path}${search(query)}`, {
        dispatcher,
        signal,
        // Compressed answers could grow far beyond the cap while they are unpacked.
        headers: { accept: 'application/json', 'accept-encoding': 'identity', ...headers },
      })
      return { status: answer.statusCode, headers: answer.headers, body: await readBody(answer) }
    } catch (cause) {
      if (cause instanceof SocialError) throw cause
      const reason = signal.aborted ? `no whole answer within ${timeoutMs} ms` : (cause as Error).message
      throw new SocialError('unavailable', `${host}${path}: ${reason}`, { cause })
    }
  }

  return {
    async get(path, query, schema, isNothing) {
      const where = `${host}${path}`
      const { status, headers, body } = await ask(path, query)
      if (status !== 200) {
        if (isNothing?.(status, body)) return undefined
        throw failureOf(where, status, retryAfter(headers['retry-after']))
      }
      const encoding = headers['content-encoding'] ?? 'identity'
      if (encoding !== 'identity') throw new SocialError('bad_answer', `${where}: sent ${encoding}, not plain JSON`)
      const parsed = schema.safeParse(parseJson(where, body))
      if (parsed.success) return parsed.data
      const issue = parsed.error.issues[0]
      throw new SocialError('bad_answer', `${where}: ${issue?.path.join('.')}: ${issue?.message}`)
    },
    close: () => dispatcher.close(),
  }
}

function failureOf(where: string, status: number, retryAfterSeconds: number | undefined): SocialError {
  const message = `${where}: status ${status}`
  if (status === 429 || (status === 503 && retryAfterSeconds !== undefined)) {
    return new SocialError('rate_limited', message, { retryAfterSeconds })
  }
  if (status >= 500) return new SocialError('unavailable', message)
  return new SocialError(status >= 400 ? 'refused' : 'bad_answer', message)
}

async function readBody({ body }: Dispatcher.ResponseData): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of body as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > mostBodyBytes) throw new SocialError('bad_answer', `an answer of more than ${mostBodyBytes} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function parseJson(where: string, body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (cause) {
    throw new SocialError('bad_answer', `${where}: not JSON: ${body.slice(0, 40)}`, { cause })
  }
}

function search(query: Query): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') params.set(name, String(value))
  }
  return params.size > 0 ? `?${params}` : ''
}

/** Seconds of a Retry-After header, which is a number of them or a date; 1 to 3600, undefined when it is neither. */
function retryAfter(header: string | string[] | undefined): number | undefined {
  const text = Array.isArray(header) ? header[0] : header
  if (!text) return undefined
  const seconds = /^\d+$/.test(text.trim()) ? Number(text) : (Date.parse(text) - Date.now()) / 1000
  if (Number.isNaN(seconds)) return undefined
  return Math.min(longestRetrySeconds, Math.max(1, Math.ceil(seconds)))
}
