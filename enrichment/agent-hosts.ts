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

/** The hosts that strangers named, each with its own Retry-After and its own circuit breaker. */
export interface AgentHosts {
  /**
   * Fetches through the door of `net/`, with https tried where http is written. Throws HostClosed when the host is not
   * to be asked now, which an answer 429 or 503 with Retry-After says as well; DoorError when there is no answer.
   */
  fetch(url: URL, options: FetchOptions): Promise<Fetched>
  /** The address that is asked for this one: plain http is for exceptions an operator made. */
  secured(url: URL): URL
  /** What the scheduler sees of all these hosts; it is not told of the failures of single hosts; stopping it ends what is in flight. */
  readonly host: Host
}

/** The version of a document (ETag and Last-Modified), by which its host recognises what it sent before. */
export interface Version {
  readonly etag: string | null
  readonly lastModified: string | null
}

/** The version of an answer, as far as it can be sent back as it is; a host that names its versions oddly has none. */
export function versionOf({ headers }: Fetched): Version {
  const sendable = (name: string) => {
    const value = headers.get(name)
    return value !== undefined && /^[\x20-\x7e]{1,256}$/.test(value) ? value : null
  }
  return { etag: sendable('etag'), lastModified: sendable('last-modified') }
}

/** Headers of a request for JSON that is not the known version (RFC 9110 13). */
export function conditionsOf(known: Version | undefined): Record<string, string> {
  return {
    accept: 'application/json',
    ...(known?.etag && { 'if-none-match': known.etag }),
    ...(known?.lastModified && { 'if-modified-since': known.lastModified }),
  }
}

/** Hosts remembered; the one not asked for longest is forgotten first. */
const mostHosts = 10_000
/** Used where a host answers 429 without a Retry-After, and where our own queue for it is full. */
const restMs = minute
const shortestRestMs = second
const longestRestMs = hour
/** Failures that are the host's own. */
const outOfOrder: readonly DoorReason[] = ['dns_error', 'connect_error', 'tls_error', 'timeout', 'broken_answer']

export function createAgentHosts({ door, egressAllow, now }: AgentHostsOptions): AgentHosts {
  const all = createHost({ name: 'agents', requestsPerSecond: Number.POSITIVE_INFINITY, now })
  const known = new Map<string, Host>()

  /** The state of a host, made where it is new; hosts are kept in the order of their last use. */
  function hostOf(name: string): Host {
    const host = known.get(name) ?? createHost({ name, requestsPerSecond: Number.POSITIVE_INFINITY, now })
    known.delete(name)
    known.set(name, host)
    if (known.size > mostHosts) known.delete(known.keys().next().value as string)
    return host
  }

  async function fetch(url: URL, options: FetchOptions): Promise<Fetched> {
    const target = secured(url, egressAllow)
    const host = hostOf(target.host)
    await all.slot()
    await host.slot()
    const later = (why: string, ms: number) => new HostClosed(why, new Date(now().getTime() + ms))
    try {
      const fetched = await door.fetch(target, options)
      const asked = restOf(fetched, now())
      if (asked !== undefined) {
        host.restFor(asked)
        throw later(`${target.host}: asked to wait`, asked)
      }
      host.succeeded() // a 5xx may concern one page only
      return fetched
    } catch (error) {
      if (!(error instanceof DoorError)) throw error
      if (error.checkStatus === null) throw later(error.message, restMs)
      if (outOfOrder.includes(error.reason)) host.failed()
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
 * Milliseconds that an answer's Retry-After asks to wait; undefined: it has none. Source: RFC 9110 10.2.3, RFC 6585 4.
 */
function restOf({ status, headers }: Fetched, now: Date): number | undefined {
  const text = headers.get('retry-after')?.trim()
  if (status !== 429 && !(status === 503 && text)) return undefined
  if (!text) return restMs
  const ms = /^\d+$/.test(text) ? Number(text) * second : Date.parse(text) - now.getTime()
  return Number.isNaN(ms) ? restMs : Math.min(longestRestMs, Math.max(shortestRestMs, ms))
}
