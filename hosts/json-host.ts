import { Agent, type Dispatcher, request } from 'undici'
import type { z } from 'zod'
import { NoAnswer } from './no-answer.ts'

export interface JsonHostOptions {
  /** Base address, without a path; the operator named it, so no guard against it is needed. */
  readonly url: string
  /** Name of the host in error messages. */
  readonly name: string
  readonly headers?: Readonly<Record<string, string>>
  /** Deadline of one answer, from the request to its last byte, in milliseconds. Default: 10 s. */
  readonly timeoutMs?: number
}

export interface Question {
  /** Path and query string. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON by POST; absent: GET. */
  readonly body?: unknown
  /** Sent as it is by POST, in place of JSON. */
  readonly text?: string
  /** Most bytes of the answer. Default: 2 MiB. */
  readonly mostBytes?: number
  /** Whether it is about one account or one event, which is then to blame for an answer that is too long. */
  readonly isAboutOne?: boolean
}

export interface Received {
  readonly status: number
  readonly headers: Dispatcher.ResponseData['headers']
  readonly text: string
}

/** A host with a fixed address that speaks JSON. */
interface JsonHost {
  /** Resolves with an answer of any status. Throws NoAnswer when there is none or it exceeds `mostBytes`. */
  send(question: Question): Promise<Received>
  /** Waits for requests under way, then closes the connections. */
  close(): Promise<void>
  /** Aborts requests under way and closes the connections. */
  destroy(): void
}

const defaultTimeoutMs = 10_000
const mostBodyBytes = 2 * 1024 * 1024
const mostConnections = 4

export function createJsonHost({ url, name, headers, timeoutMs = defaultTimeoutMs }: JsonHostOptions): JsonHost {
  const base = url.replace(/\/+$/, '')
  const dispatcher = new Agent({ connections: mostConnections, pipelining: 1 })
  return {
    async send({ path, headers: more, body, mostBytes = mostBodyBytes, isAboutOne, ...question }) {
      const text = question.text ?? (body === undefined ? undefined : JSON.stringify(body))
      const signal = AbortSignal.timeout(timeoutMs)
      try {
        const answer = await request(`${base}${path}`, {
          dispatcher,
          signal,
          method: text === undefined ? 'GET' : 'POST',
          body: text,
          headers: {
            accept: 'application/json',
            // Compressed answers could grow far beyond the cap while they are unpacked.
            'accept-encoding': 'identity',
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...headers,
            ...more,
          },
        })
        return {
          status: answer.statusCode,
          headers: answer.headers,
          text: await readText(answer, mostBytes, isAboutOne),
        }
      } catch (cause) {
        if (cause instanceof NoAnswer) throw cause
        const reason = signal.aborted ? `no whole answer within ${timeoutMs} ms` : (cause as Error).message
        throw new NoAnswer('unavailable', `${placeOf(name, path)}: ${reason}`, { cause })
      }
    },
    close: () => dispatcher.close(),
    destroy: () => void dispatcher.destroy(),
  }
}

/** Prefix of an error message: the host and the path without the query, 200 characters at most. */
export function placeOf(name: string, path: string): string {
  return `${name}${path.split('?', 1)[0]}`.slice(0, 200)
}

/** Body of a 200 answer, parsed with the schema. Throws NoAnswer `bad_answer` when it does not fit. */
export function contentOf<T>(place: string, { headers, text }: Received, schema: z.ZodType<T>): T {
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') throw new NoAnswer('bad_answer', `${place}: sent ${encoding}, not plain JSON`)
  const parsed = schema.safeParse(parseJson(place, text))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  // An entry of a list comes from whom it is about; the rest of an answer is the host's own.
  const isAboutOne = issue?.path.some((step) => typeof step === 'number')
  throw new NoAnswer('bad_answer', `${place}: ${issue?.path.join('.')}: ${issue?.message}`, { isAboutOne })
}

/** The error for a status other than 200. `restMs` present: the host rate limits, for so many milliseconds. */
export function failureOf(place: string, status: number, restMs?: number): NoAnswer {
  const message = `${place}: status ${status}`
  if (restMs !== undefined) {
    return new NoAnswer('rate_limited', message, { retryAfterSeconds: Math.ceil(restMs / 1_000) })
  }
  if (status >= 500) return new NoAnswer('unavailable', message)
  return new NoAnswer(status >= 400 ? 'refused' : 'bad_answer', message)
}

export function firstOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}

/** Text of an answer's body. Throws NoAnswer `bad_answer` when it has more than `mostBytes`. */
async function readText({ body }: Dispatcher.ResponseData, mostBytes: number, isAboutOne = false): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of body as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > mostBytes) throw new NoAnswer('bad_answer', `an answer of more than ${mostBytes} bytes`, { isAboutOne })
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function parseJson(place: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new NoAnswer('bad_answer', `${place}: not JSON: ${text.slice(0, 40)}`, { cause })
  }
}

/** Most bytes of an answer, which may hold the logs of many blocks. */
const mostAnswerBytes = 10 * 1024 * 1024

/**
 * A fetch for viem, whose timeout ends where an answer begins: resolves once the whole answer is read. It asks for one that
 * is not compressed, because Node's own, up to Node 24, ends the process when a server closes the connection before its
 * answer is unpacked. Source: nodejs/undici#5360.
 */
export async function wholeFetch(url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const answer = await request(String(url), {
    method: 'POST',
    headers: { ...(init.headers as Record<string, string>), 'accept-encoding': 'identity' },
    body: init.body as string,
    signal: init.signal ?? null,
  })
  return new Response(await readText(answer, mostAnswerBytes), { status: answer.statusCode })
}
