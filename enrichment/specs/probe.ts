import { createHash } from 'node:crypto'
import { isSameSite } from '../../derive/site.ts'
import type { Fetched } from '../../net/door.ts'
import { DoorError } from '../../net/errors.ts'
import type { CardSignature } from '../../trust/card-signature.ts'
import { type AgentHosts, conditionsOf, type Version, versionOf } from '../agent-hosts.ts'
import type { BackReference } from './back-reference.ts'
import type { Candidate } from './candidates.ts'
import { signatureOf } from './card-keys.ts'
import { type SpecStatus, statusOf } from './check-status.ts'
import { parsed, type SpecContent } from './content.ts'
import { maxSpecBytes, readContent, type SpecKind } from './kinds.ts'
import { cardInCatalog } from './mcp-card.ts'
import { askServer } from './mcp-session.ts'
import { type Price, pricesIn } from './prices.ts'
import { specRequests } from './spec-requests.ts'
import { demandOf } from './x402.ts'

/** Result of a request for a document. */
export interface Check {
  readonly candidate: Candidate
  readonly status: SpecStatus
  /** HTTP status; null: no answer. */
  readonly httpStatus: number | null
  readonly latencyMs: number | null
  /** The document that was read; undefined: none, or with status `ok` it is the known version, unchanged. */
  readonly found?: {
    readonly content: SpecContent
    readonly sha256: Buffer
    readonly version: Version
    /** Verdict on the signatures of an A2A card; null: the document is not a card. */
    readonly cardSignature: CardSignature | null
  }
  /** Prices in the document, or in a demand for payment; undefined: this answer does not say. */
  readonly prices?: readonly Price[]
}

/** Result of one check-up of all of an agent's places. */
export interface CheckUp {
  /** Places that were asked, in no order. */
  readonly checks: readonly Check[]
  /** Keys of all places where a document of this agent may lie, asked or not. */
  readonly places: ReadonlySet<string>
  /** By host: whether it lists the agent as its own; hosts for which that is unknown are left out. */
  readonly references: ReadonlyMap<string, BackReference>
  /** Keys of the places named only by registration files that list registrations, but none of this agent. */
  readonly contradicted: ReadonlySet<string>
  /** When a host that could not be asked this time may be asked again; undefined: there was none. */
  readonly closedUntil: Date | undefined
  /** Whether one of those hosts was asked, and answered that it wants to wait. */
  readonly wasAsked: boolean
}

/** Key of a document among those of its agent: kind and address. */
export const placeOf = ({ kind, url }: Candidate) => `${kind} ${url.href}`

const redirects = 3

/** Requests one document. Throws HostClosed when its host must not be asked now. */
export async function probe(hosts: AgentHosts, candidate: Candidate, known?: Version): Promise<Check> {
  try {
    return await (candidate.session ? askSession(hosts, candidate) : askDocument(hosts, candidate, known))
  } catch (error) {
    if (!(error instanceof DoorError) || error.checkStatus === null) throw error
    return { candidate, httpStatus: null, latencyMs: null, status: error.checkStatus }
  }
}

async function askSession(hosts: AgentHosts, candidate: Candidate): Promise<Check> {
  const { content, sha256, ...outcome } = await askServer(hosts, candidate.url)
  if (!content || !sha256) return { candidate, ...outcome }
  const version = { etag: null, lastModified: null }
  return { candidate, ...outcome, found: { content, sha256, version, cardSignature: null } }
}

async function askDocument(hosts: AgentHosts, candidate: Candidate, known: Version | undefined): Promise<Check> {
  const { kind, url } = candidate
  const options = { ...specRequests, maxBytes: maxSpecBytes[kind], redirects, mayRedirect: isSameSite }
  const first = await hosts.fetch(url, { ...options, headers: conditionsOf(known) })
  const cardUrl = kind === 'mcp' ? cardInCatalog(parsed(first.body), url) : undefined
  // A catalog says nothing about another site. No version is kept of the card: the catalog would be requested with it.
  const isLed = cardUrl !== undefined && isSameSite(url, cardUrl)
  const fetched = isLed
    ? await hosts.fetch(hosts.secured(cardUrl), { ...options, headers: conditionsOf(undefined) })
    : first
  const { status: httpStatus, elapsedMs } = fetched
  const judged = judge(kind, fetched, isLed ? undefined : known)
  const { status, value } = judged
  const check = { candidate, httpStatus, latencyMs: Math.round(elapsedMs), status, prices: judged.prices }
  if (!judged.found) return check
  const found = isLed ? { ...judged.found, version: { etag: null, lastModified: null } } : judged.found
  const cardSignature = kind === 'a2a' ? await signatureOf(hosts, value, url) : null
  return { ...check, found: { ...found, cardSignature } }
}

interface Judged {
  readonly status: SpecStatus
  /** The parsed JSON of the document. */
  readonly value?: unknown
  readonly found?: Omit<NonNullable<Check['found']>, 'cardSignature'>
  readonly prices?: readonly Price[]
}

/** Judges an answer; `sent`: the version that the request asked about, without which a host's 304 says nothing. */
function judge(kind: SpecKind, fetched: Fetched, sent: Version | undefined): Judged {
  const { status: httpStatus, body } = fetched
  if (httpStatus === 304 && (sent?.etag || sent?.lastModified)) return { status: 'ok' }
  const status = statusOf(httpStatus)
  if (status === 'payment_required') return { status, prices: pricesIn(demandOf(fetched)) }
  if (status) return { status }
  const value = parsed(body)
  if (value === undefined) return { status: 'not_json' }
  const content = readContent[kind](value)
  if (!content) return { status: 'schema_mismatch' }
  const sha256 = createHash('sha256').update(body).digest()
  return { status: 'ok', value, found: { content, sha256, version: versionOf(fetched) }, prices: pricesIn(value) }
}
