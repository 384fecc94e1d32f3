import { DirectoryError } from './error.ts'

export interface TransportOptions {
  /** Replaces the platform's `fetch`. */
  readonly fetch?: typeof fetch
  /** Most retries of a request after a 429 or 503, and likewise after a broken connection. Default: 3. */
  readonly retries?: number
  /** Timeout of a request and its answer, milliseconds. Default: 20 seconds. */
  readonly timeoutMs?: number
  /** Longest `Retry-After` to wait for, seconds; a longer one fails at once, as a daily limit's. Default: 120. */
  readonly longestWaitSeconds?: number
  /** Waits some milliseconds; default: a timer. */
  readonly wait?: (ms: number) => Promise<void>
}

interface Answer {
  readonly body: string
  /** Path and query of the next page, from the `Link` header; undefined: there is none. */
  readonly next: string | undefined
  readonly headers: Headers
}

interface Kept extends Answer {
  readonly etag: string
}

export type Query = Readonly<Record<string, unknown>>

/** Most answers cached for revalidation by ETag, beyond which the oldest is dropped; and characters of the largest. */
const keptAnswers = 100
const largestKept = 1024 * 1024
/** Statuses after which a request is retried, when `Retry-After` says. */
const retried = [429, 503]
const pauseSeconds = 1
const defaultRetries = 3
const defaultTimeoutMs = 20_000
/** Silence after which a stream counts as lost, milliseconds; the service sends a heartbeat every 15 seconds. */
const silenceMs = 60_000
/** Longest pause of a backoff after broken connections, milliseconds. */
export const longestPauseMs = 60_000

/** Sends GETs to one service: retries with backoff, and revalidates cached answers by ETag. */
export class Transport {
  readonly #origin: string
  readonly #options: TransportOptions
  readonly #kept = new Map<string, Kept>()

  constructor(baseUrl: string, options: TransportOptions = {}) {
    this.#origin = new URL(baseUrl).href.replace(/\/+$/, '')
    this.#options = options
  }

  /** Answer to a GET. Throws DirectoryError for a status that is no success, or the last failure of the connection. */
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

  /** Bytes of an answer. Throws as `get` does. */
  async bytes(path: string): Promise<Uint8Array> {
    for (let failures = 0; ; ) {
      try {
        const response = await this.#fetch(path, {})
        if (!response.ok) throw DirectoryError.of(response.status, await response.text())
        return new Uint8Array(await response.arrayBuffer())
      } catch (error) {
        await this.#afterBreak(error, ++failures)
      }
    }
  }

  async #read(target: string): Promise<Answer> {
    const known = this.#kept.get(target)
    const response = await this.#fetch(target, known ? { 'If-None-Match': known.etag } : {})
    if (response.status === 304 && known) return this.#renew(target, known, response.headers)
    const body = await response.text()
    if (!response.ok) throw DirectoryError.of(response.status, body)
    const answer = { body, next: nextOf(response.headers.get('link'), target), headers: response.headers }
    const etag = response.headers.get('etag')
    if (etag !== null && body.length <= largestKept) this.#keep(target, { ...answer, etag })
    return answer
  }

  /** Text of an immutable gzip file, streamed; after a broken connection it reads again and skips what it gave. */
  async *file(path: string): AsyncGenerator<string> {
    for (let told = 0, failures = 0; ; ) {
      try {
        let at = 0
        for await (const piece of this.texts(path, {}, true)) {
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

  /** Exponential backoff after a broken request; throws the error when retries are used up or would not help. */
  async #afterBreak(error: unknown, failures: number): Promise<void> {
    // A 503 was retried already, after its `Retry-After`.
    const isBroken = !(error instanceof DirectoryError) || (error.status >= 500 && error.status !== 503)
    if (!isBroken || failures > (this.#options.retries ?? defaultRetries)) throw error
    await this.pause(Math.min(pauseSeconds * 1_000 * 2 ** (failures - 1), longestPauseMs))
  }

  /** Waits some milliseconds, with `wait` of the options if given. */
  pause(ms: number): Promise<void> {
    return (this.#options.wait ?? pause)(ms)
  }

  /** Text of an answer, streamed. Throws when the answer does not begin in time, or nothing comes for `silenceMs`. */
  async *texts(path: string, headers: Record<string, string>, isGzip = false): AsyncGenerator<string> {
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
        clearTimeout(timer) // the time the consumer takes does not count
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

  /**
   * The kept answer with the headers of a 304 over its own (RFC 9111, 3.2): the log of another database can begin with
   * the same lines. Headers that the 304 lacks are kept, because some caches leave them out.
   */
  #renew(target: string, known: Kept, fresh: Headers): Answer {
    const headers = new Headers(known.headers)
    for (const [name, value] of fresh) headers.set(name, value)
    const answer = { ...known, next: nextOf(headers.get('link'), target), headers }
    this.#keep(target, answer)
    return answer
  }

  #keep(target: string, answer: Kept): void {
    this.#kept.delete(target)
    this.#kept.set(target, answer)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > keptAnswers && oldest !== undefined) this.#kept.delete(oldest)
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Seconds of a `Retry-After` header, or until the date in it; `pauseSeconds` when it is absent, unreadable or past. */
function secondsOf(header: string | null): number {
  if (header !== null && /^[0-9]+$/.test(header)) return Number(header)
  const until = Math.ceil((Date.parse(header ?? '') - Date.now()) / 1_000)
  return until > 0 ? until : pauseSeconds // NaN is not
}

/** Path with a query; a list repeats its parameter, undefined and null are left out. */
function withQuery(path: string, query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value]
      .flat()
      .flatMap((one): [string, string][] => (one === undefined || one === null ? [] : [[name, String(one)]])),
  )
  if (pairs.length === 0) return path
  return `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams(pairs)}`
}

/**
 * Path and query of the `next` link of the answer to `target`. Its origin, and what its path has in front of that of
 * `target`, are ignored: the service may know itself by another address.
 */
function nextOf(link: string | null, target: string): string | undefined {
  const [, url] = /<([^>]+)>\s*;\s*rel="?next"?/.exec(link ?? '') ?? []
  const next = url === undefined ? null : URL.parse(url, 'http://service')
  const [path = ''] = target.split('?')
  return next ? (next.pathname.endsWith(path) ? path : next.pathname) + next.search : undefined
}
