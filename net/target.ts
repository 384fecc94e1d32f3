import { isIP } from 'node:net'
import type { EgressAllow } from './egress.ts'
import { DoorError } from './errors.ts'

/** A URL whose text passed the egress rules; its addresses are judged later. */
export interface Target {
  readonly url: URL
  /** A name, or (only by EGRESS_ALLOW) an address without brackets. */
  readonly hostname: string
  readonly port: number
  /** Named in EGRESS_ALLOW: its addresses are not judged. */
  readonly allowed: boolean
}

/** Longest URL accepted, in characters, as written and as parsed: percent-encoding makes nine of a Chinese character. */
export const maxUrlLength = 2_048

/**
 * Judges a URL by its text; throws DoorError `blocked` saying which rule it breaks. Rules: https, port 443 or one of
 * `ports`, no user or password, and a name that can be public. An entry of EGRESS_ALLOW passes with http or https.
 *
 * The text is parsed first and the outcome judged, because the WHATWG parser turns decimal, octal, hexadecimal, short,
 * full-width and percent-encoded spellings into plain addresses and names. What the name resolves to is judged later.
 */
export function parseTarget(input: string | URL, ports: readonly number[], egressAllow: EgressAllow): Target {
  const text = String(input)
  if (text.length > maxUrlLength) throw blocked(text, `longer than ${maxUrlLength} characters`)
  const url = URL.parse(text)
  if (!url) throw blocked(text, 'not a URL')
  if (url.href.length > maxUrlLength) throw blocked(text, `longer than ${maxUrlLength} characters once it is encoded`)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw blocked(text, 'not https')
  if (url.username !== '' || url.password !== '') throw blocked(text, 'it carries a user or a password')
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const allowed = egressAllow.has(`${url.hostname}:${port}`)
  const problem = allowed ? undefined : problemOf(url, hostname, port, ports)
  if (problem) throw blocked(text, problem)
  return { url, hostname, port, allowed }
}

function problemOf(url: URL, hostname: string, port: number, ports: readonly number[]): string | undefined {
  if (url.protocol !== 'https:') return 'not https'
  if (port !== 443 && !ports.includes(port)) return `port ${port} is not open, ${[443, ...ports].join(', ')} is`
  if (isIP(hostname) !== 0) return 'an address instead of a name'
  return problemOfName(hostname)
}

/**
 * Why a host name cannot belong to a public host; undefined when it can. No list of public suffixes is kept: a name
 * passes with two labels or more, the last one alphabetic or `xn--`, unless a reserved name ends it. A name let through
 * that is not public resolves to nothing or to addresses that are judged.
 */
function problemOfName(hostname: string): string | undefined {
  if (hostname.endsWith('.')) return 'a trailing dot'
  if (hostname.length > maxNameLength) return `a name longer than ${maxNameLength} characters`
  const labels = hostname.split('.')
  if (!labels.every((label) => /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/.test(label))) return 'not a host name'
  if (labels.length < 2) return 'a name without a public suffix'
  if (!/^(?:[a-z]{2,}|xn--[a-z0-9-]+)$/.test(labels.at(-1)!)) return 'a name without a public suffix'
  const reserved = labels.map((_, from) => labels.slice(from).join('.')).find((suffix) => reservedNames.has(suffix))
  return reserved === undefined ? undefined : `${reserved} is a reserved name`
}

/** Longest host name in characters, without the root. Source: RFC 1035 2.3.4. */
const maxNameLength = 253

/** Names, with all below them, that are no public host's. Source: IANA Special-Use Domain Names, and as noted. */
const reservedNames = new Set([
  'test',
  'localhost',
  'invalid',
  'example',
  'example.com',
  'example.net',
  'example.org', // RFC 6761
  'local',
  'intranet',
  'private',
  'corp',
  'home',
  'lan', // RFC 6762 and its appendix G
  'onion', // RFC 7686
  'alt', // RFC 9476
  'arpa', // the infrastructure's own: home.arpa (RFC 8375), ipv4only.arpa (RFC 8880), resolver.arpa (RFC 9462), …
  'internal', // kept for private networks by ICANN, 2024
  'mail', // never to be delegated, ICANN 2018
  'localdomain', // what many hosts append to their own name
])

function blocked(text: string, problem: string): DoorError {
  return new DoorError('blocked', `${JSON.stringify(text.slice(0, shownLength))} is refused: ${problem}`)
}

/** Characters of a refused URL that an error message shows. */
const shownLength = 200
