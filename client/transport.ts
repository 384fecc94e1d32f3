import { DirectoryError } from './error.ts'

export interface TransportOptions {
  /** Replaces the platform's `fetch`. */
  readonly fetch?: typeof fetch
  /** How often a refused request is sent again at most. Default: 3. */
  readonly retries?: number
  /** Of a request and its answer, milliseconds. Default: 20 seconds. */
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

/** GETs of one service: asks again when it is told to, and does not load what has not changed. */
export class Transport {
  readonly #origin: string
  readonly #options: TransportOptions
  readonly #kept = new Map<string, Answer & { readonly etag: string }>()

  constructor(baseUrl: string, options: TransportOptions = {}) {
    this.#origin = new URL(baseUrl).href.replace(/\/+$/, '')
    this.#options = options
  }

  /** Throws DirectoryError for every status that is no success. */
  async get(path: string, query: Query = {}): Promise<Answer> {
    const target = withQuery(path, query)
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

  async #fetch(target: string, headers: Record<string, string>): Promise<Response> {
    const { retries = 3, timeoutMs = 20_000, longestWaitSeconds = 120, wait = pause } = this.#options
    const send = this.#options.fetch ?? fetch
    for (let sent = 0; ; sent++) {
      const signal = AbortSignal.timeout(timeoutMs)
      const response = await send(this.#origin + target, { headers, signal })
      if (!retried.includes(response.status) || sent >= retries) return response
      const seconds = secondsOf(response.headers.get('retry-after'))
      if (seconds > longestWaitSeconds) return response
      await response.body?.cancel()
      await wait(seconds * 1_000)
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
