import { DirectoryError } from './error.ts'
import { eventsOf, type ServerEvent } from './events.ts'

export interface TransportOptions {
  /** Replaces the platform's `fetch`. */
  readonly fetch?: typeof fetch
  /** How often a request is sent again at most that was refused for now, or whose line broke. Default: 3. */
  readonly retries?: number
  /** Timeout of a request and its answer, milliseconds. Default: 20 seconds. */
  readonly timeoutMs?: number
  /** The longest wait that is not given up at once, seconds. Default: 120; the end of a day may be hours away. */
  readonly longestWaitSeconds?: number
  /** Waits, milliseconds. */
  readonly wait?: (ms: number) => Promise<void>
}

interface Answer {
  readonly body: string
  /** Path and query of the next page; undefined: there is none. */
  readonly next: string | undefined
  readonly headers: Headers
}

export type Query = Readonly<Record<string, unknown>>

/** Answers kept to be asked for with their tag; the oldest goes. */
const keptAnswers = 100
const largestKept = 1024 * 1024
/** Statuses that come with `Retry-After`. */
const retried = [429, 503]
const pauseSeconds = 1
const defaultRetries = 3
const defaultTimeoutMs = 20_000
/** The service sends a heartbeat on a stream every 15 seconds; after so long without a byte the connection counts as lost. */
const silenceMs = 60_000
/** Before a stream is connected to again, where it has not said how long; after every failure in a row twice as long. */
const reconnectMs = 5_000
const longestReconnectMs = 60_000
/** Failures in a row after which a stream is given up: some minutes. */
const reconnects = 10

/** GETs of one service: asks again when it is told to, and does not load what has not changed. */
export class Transport {
  readonly #origin: string
  readonly #options: TransportOptions
  readonly #kept = new Map<string, Answer & { readonly etag: string }>()

  constructor(baseUrl: string, options: TransportOptions = {}) {
    this.#origin = new URL(baseUrl).href.replace(/\/+$/, '')
    this.#options = options
  }

  /** Throws DirectoryError for every status that is no success, and what broke the line in the end. */
  async get(path: string, query: Query = {}): Promise<Answer> {
    const target = withQuery(path, query)
    for (let failures = 0; ; ) {
      try {
        return await this.#read(target)
      } catch (error) {
        await this.#afterBreak(error, ++failures)
      }
    }
  }

  async #read(target: string): Promise<Answer> {
    const known = this.#kept.get(target)
    const response = await this.#fetch(target, known ? { 'If-None-Match': known.etag } : {})
    if (response.status === 304 && known) return known
    const body = await response.text()
    if (!response.ok) throw DirectoryError.of(response.status, body)
    const answer = { body, next: nextOf(response.headers.get('link')), headers: response.headers }
    const etag = response.headers.get('etag')
    if (etag !== null && body.length <= largestKept) this.#keep(target, { ...answer, etag })
    return answer
  }

  /**
   * Events of a stream, behind the one with this id, without end: what ends or breaks is connected to again and goes on
   * where it was. Throws what the service refuses, and the last failure of many in a row.
   */
  async *events(path: string, since: string): AsyncGenerator<ServerEvent> {
    let id = since
    let pauseMs = reconnectMs
    for (let failures = 0; ; ) {
      try {
        for await (const event of eventsOf(this.#texts(path, { 'Last-Event-ID': id }))) {
          failures = 0
          id = event.id ?? id
          pauseMs = event.retryMs ?? pauseMs
          yield event
        }
      } catch (error) {
        const isRefused = error instanceof DirectoryError && error.status < 500 && error.status !== 429
        if (isRefused || ++failures > reconnects) throw error
      }
      await this.pause(Math.min(pauseMs * 2 ** Math.max(0, failures - 1), longestReconnectMs))
    }
  }

  /** The text of a file that never changes and is compressed with gzip, as it comes; resumed when the connection breaks. */
  async *file(path: string): AsyncGenerator<string> {
    for (let told = 0, failures = 0; ; ) {
      try {
        let at = 0
        for await (const piece of this.#texts(path, {}, true)) {
          const fresh = piece.slice(Math.max(0, told - at))
          at += piece.length
          if (fresh === '') continue
          told = at
          failures = 0
          yield fresh
        }
        return
      } catch (error) {
        await this.#afterBreak(error, ++failures)
      }
    }
  }

  /** Waits before what broke is asked for again, every time twice as long; throws what asking again does not help. */
  async #afterBreak(error: unknown, failures: number): Promise<void> {
    // 503 has been asked again already, after the time that it said.
    const isBroken = !(error instanceof DirectoryError) || (error.status >= 500 && error.status !== 503)
    if (!isBroken || failures > (this.#options.retries ?? defaultRetries)) throw error
    await this.pause(Math.min(pauseSeconds * 1_000 * 2 ** (failures - 1), longestReconnectMs))
  }

  /** Waits, as the options say. */
  pause(ms: number): Promise<void> {
    return (this.#options.wait ?? pause)(ms)
  }

  /** An answer that goes on, as its text comes. Ends with an error when nothing comes for too long. */
  async *#texts(path: string, headers: Record<string, string>, isGzip = false): AsyncGenerator<string> {
    const { timeoutMs = defaultTimeoutMs } = this.#options
    let cut = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const cutAfter = (ms: number) => {
      clearTimeout(timer)
      timer = setTimeout((one) => one.abort(new Error('the stream has fallen silent')), ms, cut)
    }
    const attempt = () => {
      cut = new AbortController()
      cutAfter(timeoutMs)
      return cut.signal
    }
    try {
      const response = await this.#fetch(path, headers, attempt)
      if (!response.ok || !response.body) throw DirectoryError.of(response.status, await response.text())
      const plain = isGzip ? response.body.pipeThrough(new DecompressionStream('gzip')) : response.body
      const reader = plain.pipeThrough(new TextDecoderStream()).getReader()
      for (;;) {
        cutAfter(silenceMs)
        const { done, value } = await reader.read()
        clearTimeout(timer) // whoever reads may take long over it
        if (done) return
        yield value
      }
    } finally {
      clearTimeout(timer)
      cut.abort()
    }
  }

  async #fetch(target: string, headers: Record<string, string>, attempt?: () => AbortSignal): Promise<Response> {
    const { retries = defaultRetries, timeoutMs = defaultTimeoutMs, longestWaitSeconds = 120 } = this.#options
    const send = this.#options.fetch ?? fetch
    for (let sent = 0; ; sent++) {
      const signal = attempt?.() ?? AbortSignal.timeout(timeoutMs)
      const response = await send(this.#origin + target, { headers, signal })
      if (!retried.includes(response.status) || sent >= retries) return response
      const seconds = secondsOf(response.headers.get('retry-after'))
      if (seconds > longestWaitSeconds) return response
      await response.body?.cancel()
      await this.pause(seconds * 1_000)
    }
  }

  #keep(target: string, answer: Answer & { readonly etag: string }): void {
    this.#kept.delete(target)
    this.#kept.set(target, answer)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > keptAnswers && oldest !== undefined) this.#kept.delete(oldest)
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** `Retry-After` in seconds; a date, or none, is a short pause. */
function secondsOf(header: string | null): number {
  return header !== null && /^[0-9]+$/.test(header) ? Number(header) : pauseSeconds
}

/** Lists are repeated or, where the service takes one text, joined by the caller. */
function withQuery(path: string, query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value]
      .flat()
      .flatMap((one): [string, string][] => (one === undefined || one === null ? [] : [[name, String(one)]])),
  )
  if (pairs.length === 0) return path
  return `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams(pairs)}`
}

/** The service may be known by another name than ours: the path is what counts. */
function nextOf(link: string | null): string | undefined {
  const [, url] = /<([^>]+)>\s*;\s*rel="?next"?/.exec(link ?? '') ?? []
  const next = url === undefined ? null : URL.parse(url, 'http://service')
  return next ? next.pathname + next.search : undefined
}
