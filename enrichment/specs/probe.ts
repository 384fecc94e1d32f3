import { createHash } from 'node:crypto'
import type { Fetched } from '../../net/door.ts'
import { type CheckStatus, DoorError } from '../../net/errors.ts'
import { parseJson } from '../../net/json.ts'
import { second } from '../../ops/time.ts'
import type { CardSignature } from '../../trust/card-signature.ts'
import { type AgentHosts, conditionsOf, type Version, versionOf } from '../agent-hosts.ts'
import type { Candidate } from './candidates.ts'
import { signatureOf } from './card-keys.ts'
import type { SpecContent } from './content.ts'
import { maxSpecBytes, readContent } from './kinds.ts'
import { initialize, messageOf, toMcpServer } from './mcp.ts'
import { isSameSite } from './site.ts'

/** Words of `last_check_status` (docs/rules.md 3). */
export type SpecStatus =
  | CheckStatus
  | 'ok'
  | 'auth_required'
  | 'payment_required'
  | 'not_found'
  | 'http_4xx'
  | 'http_5xx'
  | 'schema_mismatch'

/** How a request for a document went. */
export interface Check {
  readonly candidate: Candidate
  readonly status: SpecStatus
  /** Null: no answer. */
  readonly httpStatus: number | null
  readonly latencyMs: number | null
  /** With status `ok`; undefined there: it is what it was at the known version. */
  readonly found?: {
    readonly content: SpecContent
    readonly sha256: Buffer
    readonly version: Version
    /** Of an A2A card. */
    readonly cardSignature: CardSignature | null
  }
}

/** What one look at all of an agent's places brought. */
export interface CheckUp {
  /** Places that were asked, in no order. */
  readonly checks: readonly Check[]
  /** Keys of all places where a document of this agent may lie, asked or not. */
  readonly places: ReadonlySet<string>
  /** By host: whether it says that the agent is its own; hosts nobody knows about are left out. */
  readonly proofs: ReadonlyMap<string, boolean>
  /** A host that was not to be asked, and may be asked again then. */
  readonly closedUntil: Date | undefined
}

/** One document's key among an agent's. */
export const placeOf = ({ kind, url }: Candidate) => `${kind} ${url.href}`

const timeoutMs = 10 * second
const redirects = 3
const ports = [8443]

/** Asks for one document. Throws HostClosed when its host is not to be asked now. */
export async function probe(hosts: AgentHosts, candidate: Candidate, known?: Version): Promise<Check> {
  try {
    const fetched = await ask(hosts, candidate, known)
    const { status: httpStatus, elapsedMs } = fetched
    const { status, value, found } = judge(candidate, fetched)
    const check = { candidate, httpStatus, latencyMs: Math.round(elapsedMs), status }
    if (!found) return check
    const isCard = candidate.kind === 'a2a' && !candidate.session
    const cardSignature = isCard ? await signatureOf(hosts, value, candidate.url) : null
    return { ...check, found: { ...found, cardSignature } }
  } catch (error) {
    if (!(error instanceof DoorError) || error.checkStatus === null) throw error
    return { candidate, httpStatus: null, latencyMs: null, status: error.checkStatus }
  }
}

/** A declared place may want to be paid or to know who asks; anywhere else only a document is a sign of life. */
export function isAlive({ candidate, status }: Check): boolean {
  return status === 'ok' || (candidate.declared && (status === 'auth_required' || status === 'payment_required'))
}

/** Statuses of a host that nobody could talk to. */
export function isOutOfReach(status: SpecStatus): boolean {
  return ['timeout', 'dns_error', 'tls_error', 'connect_error', 'blocked'].includes(status)
}

function ask(hosts: AgentHosts, { kind, url, session }: Candidate, known: Version | undefined): Promise<Fetched> {
  const options = { maxBytes: maxSpecBytes[kind], timeoutMs, redirects, mayRedirect: isSameSite, ports }
  if (session) {
    const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
    return hosts.fetch(url, { ...options, method: 'POST', body: initialize, headers })
  }
  return hosts.fetch(url, { ...options, headers: conditionsOf(known) })
}

interface Judged {
  readonly status: SpecStatus
  /** The document as it was parsed. */
  readonly value?: unknown
  readonly found?: Omit<NonNullable<Check['found']>, 'cardSignature'>
}

function judge(candidate: Candidate, fetched: Fetched): Judged {
  const { status, headers, body } = fetched
  if (status === 304) return { status: 'ok' }
  if (status === 401) return { status: 'auth_required' }
  if (status === 402) return { status: 'payment_required' }
  if (status === 404 || status === 410) return { status: 'not_found' }
  if (status >= 500) return { status: 'http_5xx' }
  if (status < 200 || status >= 300) return { status: 'http_4xx' }
  const bytes = candidate.session ? messageOf(body, headers.get('content-type') ?? '') : body
  const value = parsed(bytes)
  if (value === undefined) return { status: 'not_json' }
  const content = candidate.session ? toMcpServer(value) : readContent[candidate.kind](value)
  if (!content) return { status: 'schema_mismatch' }
  const sha256 = createHash('sha256').update(bytes).digest()
  const version = candidate.session ? { etag: null, lastModified: null } : versionOf(fetched)
  return { status: 'ok', value, found: { content, sha256, version } }
}

function parsed(bytes: Buffer): unknown {
  try {
    return parseJson(bytes)
  } catch (error) {
    if (error instanceof DoorError) return undefined
    throw error
  }
}
