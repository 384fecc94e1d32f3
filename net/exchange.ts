import { Client, type Dispatcher, errors } from 'undici'
import { connectorTo } from './connector.ts'
import { DoorError } from './errors.ts'
import { judgedAddresses, type Lookup } from './resolver.ts'
import type { Target } from './target.ts'

interface Question {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Bytes of the answer's body, at most; 0: it is not read. */
  readonly maxBytes: number
  /** Hears a stream of events while it comes; `begun` is called when it does. */
  readonly listen?: Listening & { readonly begun: () => void }
}

/** What a stream of events is told to while it comes. */
export interface Listening {
  /** Gets each part of the body, cut anywhere. */
  readonly hear: (part: Buffer) => void
  /** Ends the stream, which then counts as answered. */
  readonly until: AbortSignal
}

export interface Answer {
  readonly status: number
  /** Response headers by lowercase name; several values of one name are joined by a comma. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
}

/** Bytes of the answer's head, at most. */
const maxHeadBytes = 16_384

/**
 * One request and its answer, on a connection of its own: addresses are judged for every request, no idle connection
 * can be found dead by the next one, and nothing outlives the exchange. Redirects are answers like any other.
 *
 * `signal` is the only deadline, because undici's timeouts measure silence and a slow drip never trips them; its
 * reason is thrown. Every other failure is a DoorError. An error answer (400 and above) whose body is too large or
 * encoded is returned with an empty body, because its status is what matters.
 */
export async function exchange(target: Target, question: Question, ask: Lookup, signal: AbortSignal): Promise<Answer> {
  signal.throwIfAborted()
  const addresses = await before(signal, judgedAddresses(target, ask, signal))
  const client = new Client(target.url.origin, {
    connect: connectorTo(target, addresses, signal),
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: maxHeadBytes,
  })
  let hasHead = false
  try {
    const { method, headers, body } = question
    const path = target.url.pathname + target.url.search
    const response = await client.request({ method, path, headers, body, signal, reset: true })
    hasHead = true
    return {
      status: response.statusCode,
      headers: toHeaders(response.headers),
      body: await readBody(response, question),
    }
  } catch (error) {
    const failure = signal.aborted ? signal.reason : toDoorError(error, target)
    throw hasHead && failure instanceof DoorError ? failure.afterHead() : failure
  } finally {
    client.destroy(() => {})
  }
}

async function readBody(response: Dispatcher.ResponseData, { maxBytes, listen }: Question): Promise<Buffer> {
  const { statusCode, headers, body } = response
  // Destroying the client breaks off a body that is not read to its end; that error is expected.
  body.on('error', () => {})
  if (maxBytes === 0 || isRedirect(statusCode) || statusCode === 204 || statusCode === 304) return Buffer.alloc(0)
  try {
    const encoding = String(headers['content-encoding'] || 'identity')
      .trim()
      .toLowerCase()
    if (encoding !== 'identity') throw new DoorError('encoded', `the body is encoded as ${JSON.stringify(encoding)}`)
    if (listen && statusCode === 200 && /^\s*text\/event-stream/i.test(String(headers['content-type'] ?? ''))) {
      listen.begun()
      await hearAll(body, maxBytes, listen)
      return Buffer.alloc(0)
    }
    return await readWhole(body, Number(headers['content-length'] ?? 0), maxBytes)
  } catch (error) {
    const refused = error instanceof DoorError && (error.reason === 'too_large' || error.reason === 'encoded')
    if (refused && statusCode >= 400) return Buffer.alloc(0)
    throw error
  }
}

async function readWhole(body: AsyncIterable<Buffer>, announced: number, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => new DoorError('too_large', `the body is larger than ${maxBytes} bytes`)
  if (announced > maxBytes) throw tooLarge()
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

async function hearAll(body: Dispatcher.ResponseData['body'], maxBytes: number, { hear, until }: Listening) {
  const end = () => void body.destroy()
  until.addEventListener('abort', end, { once: true })
  if (until.aborted) end()
  let size = 0
  try {
    for await (const part of body as AsyncIterable<Buffer>) {
      size += part.length
      if (size > maxBytes) throw new DoorError('too_large', `the stream is longer than ${maxBytes} bytes`)
      hear(part)
    }
  } catch (error) {
    if (!until.aborted) throw error
  } finally {
    until.removeEventListener('abort', end)
  }
}

/** Whether a status redirects to its Location; 300, 304 and 305 do not. Source: RFC 9110 15.4. */
export function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status)
}

function toHeaders(headers: Record<string, string | string[] | undefined>): Map<string, string> {
  return new Map(Object.entries(headers).map(([name, value]) => [name, [value ?? []].flat().join(', ')]))
}

/** A DoorError comes from the connector or from reading; undici's own errors mean that the answer is not HTTP. */
function toDoorError(error: unknown, { url }: Target): DoorError {
  if (error instanceof DoorError) return error
  if (error instanceof errors.HeadersOverflowError) {
    return new DoorError('too_large', `${url.host} sent a head above ${maxHeadBytes} bytes`, { cause: error })
  }
  return new DoorError('broken_answer', `${url.host} broke off or is not HTTP: ${(error as Error).message}`, {
    cause: error,
  })
}

/** Settles as `work` does, or rejects once `signal` aborts: some resolvers cannot be cancelled. */
function before<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
