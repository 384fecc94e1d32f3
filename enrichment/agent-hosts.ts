import { createHost, type Host, HostClosed } from '../hosts/host.ts'
import type { Door, Fetched, FetchOptions } from '../net/door.ts'
import type { EgressAllow } from '../net/egress.ts'
import { DoorError, type DoorReason } from '../net/errors.ts'
import { hour, minute, second } from '../ops/time.ts'

interface AgentHostsOptions {
  readonly door: Door
  readonly egressAllow: EgressAllow
  readonly now: () => Date
}

/** Client for the hosts that agents name, each with its own Retry-After and circuit breaker. */
export interface AgentHosts {
  /**
   * Fetches through the door of `net/`, by https where http is written. Throws HostClosed when the host may not be
   * asked now, also after an answer 429, or 503 with Retry-After; DoorError when there is no answer.
   */
  fetch(url: URL, options: AskOptions): Promise<Fetched>
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

/** Most hosts whose state is kept; the least recently asked is forgotten first. */
const mostHosts = 10_000
/** Pause in milliseconds after a 429 without a Retry-After, and when our own queue for a host is full. */
const restMs = minute
const shortestRestMs = second
const longestRestMs = hour
/** Failures that count towards the host's circuit breaker. */
const outOfOrder: readonly DoorReason[] = ['dns_error', 'connect_error', 'tls_error', 'timeout', 'broken_answer']

export function createAgentHosts({ door, egressAllow, now }: AgentHostsOptions): AgentHosts {
  const all = createHost({ name: 'agents', requestsPerSecond: Number.POSITIVE_INFINITY, now })
  const known = new Map<string, Host>()

  /** State of a host, created on first use; hosts are kept in the order of their last use. */
  function hostOf(name: string): Host {
    const host = known.get(name) ?? createHost({ name, requestsPerSecond: Number.POSITIVE_INFINITY, now })
    known.delete(name)
    known.set(name, host)
    if (known.size > mostHosts) known.delete(known.keys().next().value as string)
    return host
  }

  async function fetch(url: URL, { mayTimeOut = false, ...options }: AskOptions): Promise<Fetched> {
    const target = secured(url, egressAllow)
    const host = hostOf(target.host)
    await all.slot()
    await host.slot()
    const later = (why: string, ms: number, wasAsked: boolean) =>
      new HostClosed(why, new Date(now().getTime() + ms), wasAsked)
    try {
      const fetched = await door.fetch(target, options)
      const asked = restOf(fetched, now())
      if (asked !== undefined) {
        host.restFor(asked)
        throw later(`${target.host}: asked to wait`, asked, true)
      }
      host.succeeded() // a 5xx may concern one page only
      return fetched
    } catch (error) {
      if (!(error instanceof DoorError)) throw error
      if (error.checkStatus === null) throw later(error.message, restMs, false)
      const isExcused = error.reason === 'timeout' && mayTimeOut
      if (outOfOrder.includes(error.reason) && !isExcused) host.failed()
      throw error
    }
  }

  return {
    fetch,
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

function secured(url: URL, egressAllow: EgressAllow): URL {
  if (url.protocol !== 'http:' || egressAllow.has(`${url.hostname}:${url.port || 80}`)) return url
  const secure = new URL(url)
  secure.protocol = 'https:'
  return secure
}

/**
 * Milliseconds to wait after a 429, or a 503 with Retry-After; undefined: any other answer. Source: RFC 9110 10.2.3,
 * RFC 6585 4.
 */
function restOf({ status, headers }: Fetched, now: Date): number | undefined {
  const text = headers.get('retry-after')?.trim()
  if (status !== 429 && !(status === 503 && text)) return undefined
  if (!text) return restMs
  const ms = /^\d+$/.test(text) ? Number(text) * second : Date.parse(text) - now.getTime()
  return Number.isNaN(ms) ? restMs : Math.min(longestRestMs, Math.max(shortestRestMs, ms))
}
