import { createHost, type Host, HostClosed } from '../hosts/host.ts'
import { bearableRest, retryAfterMs, shortestRestMs, unnamedRestMs } from '../hosts/retry-after.ts'
import type { Door, Fetched, FetchOptions } from '../net/door.ts'
import type { EgressAllow } from '../net/egress.ts'
import { DoorError, type DoorReason } from '../net/errors.ts'
import { type Backoff, doubledMs, hour, minute } from '../ops/time.ts'

/** Pauses after 429s in a row. */
const refused: Backoff = { baseMs: shortestRestMs, capMs: hour }

interface AgentHostsOptions {
  /** Name of all of them as one host. Default: agents. */
  readonly name?: string
  readonly door: Door
  readonly egressAllow: EgressAllow
  readonly now: () => Date
}

/** The host that a redirect led to may not be asked now; that says nothing about the one that redirected. */
export class RedirectClosed extends HostClosed {}

/** Client for the hosts that agents name, each with its own Retry-After and circuit breaker. */
export interface AgentHosts {
  /**
   * Fetches through the door of `net/`, by https where http is written. Throws HostClosed when the host may not be
   * asked now, also after an answer 429, or 503 with Retry-After; DoorError when there is no answer. Behind a redirect
   * all this is about the host that it leads to, and HostClosed is RedirectClosed.
   */
  fetch(url: URL, options: AskOptions): Promise<Fetched>
  /** Texts that the name servers have for a name; undefined: they have none, or do not answer in time. */
  texts(name: string, timeoutMs: number): Promise<readonly string[] | undefined>
  /** The address that is requested instead: https, but for plain http that an operator allowed (EGRESS_ALLOW). */
  secured(url: URL): URL
  /** All hosts as one, for the scheduler: failures of single hosts do not reach it; `stop` aborts all requests. */
  readonly host: Host
}

interface AskOptions extends FetchOptions {
  /**
   * Whether a timeout tells of what was asked for and not of the host, as at a gateway that looks for it elsewhere: then
   * it does not count towards the circuit breaker. Default: false.
   */
  readonly mayTimeOut?: boolean
}

/** ETag and Last-Modified of a document, for conditional requests. */
export interface Version {
  readonly etag: string | null
  readonly lastModified: string | null
}

/** Version of an answer; a header that cannot be sent back unchanged counts as null. */
export function versionOf({ headers }: Fetched): Version {
  const sendable = (name: string) => {
    const value = headers.get(name)
    return value !== undefined && /^[\x20-\x7e]{1,256}$/.test(value) ? value : null
  }
  return { etag: sendable('etag'), lastModified: sendable('last-modified') }
}

/** Headers of a conditional request for JSON: 304 when the known version is current. Source: RFC 9110 13. */
export function conditionsOf(known: Version | undefined): Record<string, string> {
  return {
    accept: 'application/json',
    ...(known?.etag && { 'if-none-match': known.etag }),
    ...(known?.lastModified && { 'if-modified-since': known.lastModified }),
  }
}

interface AgentHost extends Host {
  /** Times in a row that it asked to wait, each after the pause before was over. */
  refusals: number
}

/** Most hosts whose state is kept; the least recently asked is forgotten first. */
const mostHosts = 10_000
/** Pause in milliseconds when our own queue for a host is full. */
const queueRestMs = minute
/** Failures that count towards the host's circuit breaker. */
const outOfOrder: readonly DoorReason[] = ['dns_error', 'connect_error', 'tls_error', 'timeout', 'broken_answer']

export function createAgentHosts({ name = 'agents', door, egressAllow, now }: AgentHostsOptions): AgentHosts {
  const all = createHost({ name, requestsPerSecond: Number.POSITIVE_INFINITY, now })
  const hostOf = createKnownHosts(now)

  async function fetch(url: URL, { mayTimeOut = false, ...options }: AskOptions): Promise<Fetched> {
    const target = secured(url, egressAllow)
    let answering = target
    let asking = target
    await all.slot()
    await hostOf(target.host).slot()
    const later = (why: string, ms: number, wasAsked: boolean) =>
      new HostClosed(why, new Date(now().getTime() + ms), wasAsked)
    const mayRedirect = (from: URL, to: URL) => {
      if (options.mayRedirect && !options.mayRedirect(from, to)) return false
      if (isPartOf(to, answering)) return true
      answered(hostOf(answering.host))
      asking = to
      hostOf(to.host).checkOpen()
      answering = to
      return true
    }
    try {
      const fetched = await door.fetch(target, { ...options, mayRedirect })
      const host = hostOf(answering.host)
      const asked = restOf(fetched, now())
      if (asked !== undefined) throw later(`${answering.host}: asked to wait`, rest(host, asked), true)
      answered(host) // a 5xx may concern one page only
      return fetched
    } catch (error) {
      if (error instanceof HostClosed && asking.host !== target.host)
        throw new RedirectClosed(error.message, error.until, error.wasAsked)
      if (!(error instanceof DoorError)) throw error
      if (error.checkStatus === null) throw later(error.message, queueRestMs, false)
      // Behind a redirect the time may have passed at the host before: that must not close the one there.
      const isLate = error.reason === 'timeout' && (mayTimeOut || answering !== target)
      // A host that sends the head is well: anybody can name a page of it that streams without an end, or breaks off.
      const isExcused = isLate || error.isAfterHead
      if (outOfOrder.includes(error.reason) && !isExcused) hostOf(answering.host).failed()
      throw error
    }
  }

  return {
    fetch,
    texts: (name, timeoutMs) => door.texts(name, timeoutMs),
    secured: (url) => secured(url, egressAllow),
    host: {
      ...all,
      stop() {
        all.stop()
        door.close()
      },
    },
  }
}

/** State of each host, created on first use; hosts are kept in the order of their last use. */
function createKnownHosts(now: () => Date): (name: string) => AgentHost {
  const known = new Map<string, AgentHost>()
  return (name) => {
    const open = () => ({ ...createHost({ name, requestsPerSecond: Number.POSITIVE_INFINITY, now }), refusals: 0 })
    const host = known.get(name) ?? open()
    known.delete(name)
    known.set(name, host)
    if (known.size > mostHosts) known.delete(known.keys().next().value as string)
    return host
  }
}

function answered(host: AgentHost) {
  host.refusals = 0
  host.succeeded()
}

/** Closes a host that asked to wait `askedMs`; returns for how many milliseconds. */
function rest(host: AgentHost, askedMs: number): number {
  // Otherwise the request was on its way already when the pause began.
  if (host.state() === 'answering') host.refusals++
  // Twice as long with each 429 in a row: a host that never names a time would be asked all the time.
  const ms = bearableRest(Math.max(askedMs, doubledMs(refused, host.refusals - 1)))
  host.restFor(ms)
  return ms
}

function secured(url: URL, egressAllow: EgressAllow): URL {
  if (url.protocol !== 'http:' || egressAllow.has(`${url.hostname}:${url.port || 80}`)) return url
  const secure = new URL(url)
  secure.protocol = 'https:'
  return secure
}

/** Whether a redirect stays with a host. Gateways have a subdomain for each content, and one limit for all of them. */
function isPartOf(to: URL, { host, hostname }: URL): boolean {
  return to.host === host || to.hostname.endsWith(`.${hostname}`)
}

/**
 * Milliseconds to wait after a 429, or a 503 with Retry-After; undefined: any other answer. Source: RFC 9110 10.2.3,
 * RFC 6585 4.
 */
function restOf({ status, headers }: Fetched, now: Date): number | undefined {
  const text = headers.get('retry-after')?.trim()
  if (status !== 429 && !(status === 503 && text)) return undefined
  return retryAfterMs(text, now) ?? unnamedRestMs
}
