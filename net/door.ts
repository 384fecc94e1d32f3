import type { EgressAllow } from './egress.ts'
import { DoorError } from './errors.ts'
import { type Answer, exchange, isRedirect, type Listening } from './exchange.ts'
import { parseJson } from './json.ts'
import { createTurns, type Politeness, politeByDefault } from './politeness.ts'
import { askNameServers, askNameServersForTexts, askSystem, type Lookup, type LookupTexts } from './resolver.ts'
import { parseTarget, type Target } from './target.ts'

export interface DoorOptions {
  /** Sent with every request; names the service and where its operator can be reached: `name/1.0 (+https://…)`. */
  readonly userAgent: string
  /** Hosts and ports exempt from the egress rules, from `parseEgressAllow`. */
  readonly egressAllow: EgressAllow
  /** Resolves host names. Default: the name servers, or the system for hosts in `egressAllow`. */
  readonly lookup?: Lookup
  /** Resolves texts of names. Default: the name servers. */
  readonly lookupTexts?: LookupTexts
  readonly politeness?: Politeness
  /** Monotonic clock in milliseconds. Default: performance.now. */
  readonly now?: () => number
}

export interface FetchOptions {
  /** Largest body accepted, in bytes on the wire; 0: it is not read, however large it is. */
  readonly maxBytes: number
  /** Deadline of the whole fetch, redirects included, in milliseconds. Waiting for the first turn does not count. */
  readonly timeoutMs: number
  /** Redirects followed at most; with 0 any redirect is an error. */
  readonly redirects?: number
  /**
   * Caller's condition on each redirect, besides the door's rules; false: DoorError `redirect_refused`. What it throws
   * ends the fetch.
   */
  readonly mayRedirect?: (from: URL, to: URL) => boolean
  /** Called when the first turn has come, before the host is asked. What it throws ends the fetch. */
  readonly begin?: () => void
  /** Ports allowed besides 443. */
  readonly ports?: readonly number[]
  readonly method?: 'GET' | 'POST'
  readonly body?: string
  /** Hears a stream of events while it comes, within `maxBytes` and `timeoutMs`; other requests to its host need not wait. */
  readonly listen?: Listening
  /** Request headers; only names in `sendable`, because nothing that carries a credential leaves through this door. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface Fetched extends Answer {
  /** URL that answered, after all redirects. */
  readonly url: string
  /** Time the hosts took, all redirects together, in milliseconds. Waiting for turns does not count. */
  readonly elapsedMs: number
}

export interface Door {
  /** Resolves with an answer of any status. Failures are DoorErrors, or what `mayRedirect` throws. */
  fetch(url: string | URL, options: FetchOptions): Promise<Fetched>
  /**
   * Fetches a document and parses its body into `json`. A 2xx answer that is not JSON is a DoorError `not_json`; with
   * any other status `json` is undefined when the body is not JSON.
   */
  fetchJson(url: string | URL, options: FetchOptions): Promise<Fetched & { readonly json: unknown }>
  /**
   * Texts that the name servers have for a name (TXT records), at most 20 of up to 4,096 characters; undefined: they have none, or do
   * not answer within `timeoutMs`.
   */
  texts(name: string, timeoutMs: number): Promise<readonly string[] | undefined>
  /** Ends requests under way with DoorError `closed` and refuses later ones. */
  close(): void
}

/** Request headers a caller may set. Conditional ones let a host answer 304 without a body. */
const sendable: ReadonlySet<string> = new Set([
  'accept',
  'content-type',
  'if-none-match',
  'if-modified-since',
  'a2a-version',
  'mcp-protocol-version',
  'mcp-method',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature', // of this message, for this receiver
  'mcp-session-id', // no credential: the host itself issued it in this conversation
])

/** Texts of a name that are taken, and characters of each. */
const mostTexts = 20
const longestText = 4_096

/**
 * The one door for requests to hosts that somebody else named: agents' documents and endpoints, claim manifests.
 *
 * Every hop is judged from the start: its text (target.ts), then every address of its name (resolver.ts, address.ts);
 * only judged addresses are connected to (connector.ts). Redirects are followed here, by hand.
 */
export function createDoor(options: DoorOptions): Door {
  const { userAgent, egressAllow, lookup, politeness = politeByDefault, now = () => performance.now() } = options
  const { lookupTexts = askNameServersForTexts() } = options
  if (!/^[\x20-\x7e]+ \(\+https?:\/\/[^\s()]+\)$/.test(userAgent)) {
    throw new TypeError(`userAgent must read "name/version (+https://contact)", not ${JSON.stringify(userAgent)}`)
  }
  const askFor = ({ allowed }: Target) => lookup ?? (allowed ? askSystem : askNameServers())
  const takeTurn = createTurns(politeness)
  const underWay = new UnderWay()

  async function fetch(url: string | URL, options: FetchOptions): Promise<Fetched> {
    const { maxBytes, timeoutMs, redirects = 0, ports = [], method = 'GET', body, listen } = options
    const headers = { ...checked(options.headers), 'user-agent': userAgent, 'accept-encoding': 'identity' }
    let target = parseTarget(url, ports, egressAllow)
    const limit = underWay.begin()
    let timer: NodeJS.Timeout | undefined
    try {
      for (let elapsedMs = 0, hop = 0; ; hop++) {
        const endTurn = onceOnly(await takeTurn(target.url.host, limit.signal))
        if (hop === 0) beginIn(endTurn, options)
        timer ??= setTimeout(() => limit.abort(timedOut(url, timeoutMs)), timeoutMs)
        const startedAt = now()
        const question = { method, body, maxBytes, headers, listen: listen && { ...listen, begun: endTurn } }
        const answer = await exchange(target, question, askFor(target), limit.signal).finally(endTurn)
        elapsedMs += now() - startedAt
        if (!isRedirect(answer.status)) return { ...answer, url: target.url.href, elapsedMs }
        if (hop >= redirects) throw refused(target, `redirect number ${hop + 1}, ${redirects} are followed`)
        target = redirected(target, answer, options, egressAllow)
      }
    } finally {
      clearTimeout(timer)
      underWay.end(limit)
    }
  }

  return {
    fetch,
    texts: (name, timeoutMs) => textsOf(name, timeoutMs, underWay, lookupTexts),
    async fetchJson(url, options) {
      const fetched = await fetch(url, { ...options, headers: { accept: 'application/json', ...options.headers } })
      try {
        return { ...fetched, json: parseJson(fetched.body) }
      } catch (error) {
        if (fetched.status >= 200 && fetched.status < 300) throw error
        return { ...fetched, json: undefined }
      }
    },
    close: () => underWay.close(),
  }
}

/** What the door waits for; closing it ends all of it, and lets nothing begin. */
class UnderWay {
  readonly #limits = new Set<AbortController>()
  isOpen = true

  begin(): AbortController {
    if (!this.isOpen) throw closed()
    const limit = new AbortController()
    this.#limits.add(limit)
    return limit
  }

  end(limit: AbortController): void {
    this.#limits.delete(limit)
  }

  close(): void {
    this.isOpen = false
    for (const limit of this.#limits) limit.abort(closed())
  }
}

/** The texts of a name in the DNS; undefined: there is no answer in time. */
async function textsOf(
  name: string,
  timeoutMs: number,
  underWay: UnderWay,
  lookupTexts: NonNullable<DoorOptions['lookupTexts']>,
): Promise<string[] | undefined> {
  const limit = underWay.begin()
  const timer = setTimeout(() => limit.abort(), timeoutMs)
  try {
    const all = await lookupTexts(name, limit.signal)
    return all.slice(0, mostTexts).filter((text) => text.length <= longestText)
  } catch {
    if (!underWay.isOpen) throw closed()
    return undefined
  } finally {
    clearTimeout(timer)
    underWay.end(limit)
  }
}

/** Where a redirect leads. Throws when it may not be followed. */
function redirected(
  from: Target,
  answer: Answer,
  { method, mayRedirect, ports = [] }: FetchOptions,
  egressAllow: EgressAllow,
): Target {
  const location = answer.headers.get('location')
  const to = location === undefined ? null : URL.parse(location, from.url.href)
  if (!to) throw refused(from, 'a redirect without a place to go')
  // A POST keeps its method with 307 and 308 only; turning it into a GET would ask something else.
  if (method === 'POST' && answer.status < 307) throw refused(from, `a POST answered with ${answer.status}`)
  if (mayRedirect && !mayRedirect(from.url, to)) throw refused(from, `a redirect to ${to.host} is not followed`)
  try {
    return parseTarget(to, ports, egressAllow)
  } catch (cause) {
    throw refused(from, (cause as Error).message, cause)
  }
}

/** Begins a fetch in its first turn, which ends if the caller does not let it. */
function beginIn(endTurn: () => void, { begin }: FetchOptions): void {
  try {
    begin?.()
  } catch (error) {
    endTurn()
    throw error
  }
}

function onceOnly(end: () => void): () => void {
  let isEnded = false
  return () => {
    if (!isEnded) end()
    isEnded = true
  }
}

function checked(headers: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(headers)) {
    if (!sendable.has(name))
      throw new TypeError(`header ${JSON.stringify(name)} is not one of ${[...sendable].join(', ')}`)
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw new TypeError(`header ${name} has a value that cannot be sent`)
  }
  return headers
}

const closed = () => new DoorError('closed', 'the door is closed')
const timedOut = (url: string | URL, ms: number) => new DoorError('timeout', `no whole answer of ${url} in ${ms} ms`)
const refused = ({ url }: Target, problem: string, cause?: unknown) =>
  new DoorError('redirect_refused', `${url.host}: ${problem}`, { cause })
