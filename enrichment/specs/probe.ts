import { createHash } from 'node:crypto'
import { isSameSite } from '../../config/platforms.ts'
import type { CheckUpCuts, SpecContent } from '../../db/queries/sources/agent-specs.ts'
import { HostClosed } from '../../hosts/host.ts'
import type { Fetched } from '../../net/door.ts'
import { DoorError, type DoorReason } from '../../net/errors.ts'
import { maxUrlLength } from '../../net/target.ts'
import type { CardSignature } from '../../trust/card-signature.ts'
import { type AgentHosts, conditionsOf, RedirectClosed, type Version, versionOf } from '../agent-hosts.ts'
import type { Answered } from './answers/task.ts'
import type { BackReference } from './back-reference.ts'
import type { Candidate } from './candidates.ts'
import { signatureOf } from './card-keys.ts'
import { type CatalogCard, mostCards, toCatalog } from './catalog.ts'
import { isOfContent, isOutOfReach, type SpecStatus, statusOf } from './check-status.ts'
import { parsed } from './content.ts'
import { findingsOfDemand } from './findings/demand.ts'
import type { Finding } from './findings/finding.ts'
import type { AskedBlock } from './findings/on-chain.ts'
import { maxSpecBytes, readContent, type SpecKind } from './kinds.ts'
import { askServer } from './mcp/session.ts'
import { withSignatures } from './offers/signed.ts'
import { createSigners } from './offers/signers.ts'
import { type Sale, saleIn } from './prices.ts'
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
    /** Null: its body was not read. */
    readonly sha256: Buffer | null
    readonly version: Version
    /** Verdict on the signatures of an A2A card; null: the document is not a card; undefined: none was come to this time. */
    readonly cardSignature: CardSignature | null | undefined
  }
  /** How what it describes answered; undefined: that was not asked this time. */
  readonly answered?: Answered
  /** Set when nothing is known about the document after all: not all that it depends on could be asked for. */
  readonly isUndecided?: boolean
  /** The catalog that led to it; undefined: none did. */
  readonly catalog?: string
  /** Of a catalog: addresses of the cards in it that were not asked for this time. */
  readonly unasked?: readonly string[]
  /** Prices in the document, or in a demand for payment; undefined: this answer does not say. */
  readonly sale?: Sale
  /** What is wrong with its demand for payment; undefined: it made none. */
  readonly findings?: readonly Finding[]
  /** Blocks that chains were asked at about what is for sale. */
  readonly blocks?: readonly AskedBlock[]
  /** Why there was no answer; undefined: there was one. */
  readonly reason?: DoorReason
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
  /** What of the agent's was not looked at, as there is too much of it, with how many there are. */
  readonly truncated: CheckUpCuts
}

const redirects = 3

/** Whether a probe may make one more request, besides its first, to a host. */
type Spend = (host: string) => boolean

/** An answer with its body parsed; undefined: it has none that is read, or it is neither JSON nor YAML. */
type Answer = Fetched & { readonly value: unknown }

const toAnswer = (fetched: Fetched): Answer => {
  return { ...fetched, value: statusOf(fetched.status) === undefined ? parsed(fetched.body) : undefined }
}

/**
 * Requests one document. A catalog is followed to the cards on its site: the first MCP card counts as what lies at the
 * catalog's own place, and each other card has a check of its own, at its address. Throws HostClosed when the host of the
 * candidate must not be asked now.
 */
export async function probe(
  hosts: AgentHosts,
  candidate: Candidate,
  known: Version | undefined,
  spend: Spend,
): Promise<[Check, ...Check[]]> {
  return orFailure(candidate, async () =>
    candidate.session ? [await askSession(hosts, candidate)] : await askDocument(hosts, candidate, known, spend),
  )
}

async function orFailure(candidate: Candidate, ask: () => Promise<[Check, ...Check[]]>): Promise<[Check, ...Check[]]> {
  try {
    return await ask()
  } catch (error) {
    if (isOfContent(error)) {
      process.emitWarning(error)
      return [{ candidate, httpStatus: null, latencyMs: null, status: 'schema_mismatch' }]
    }
    if (!(error instanceof DoorError) || error.checkStatus === null) throw error
    return [{ candidate, httpStatus: null, latencyMs: null, status: error.checkStatus, reason: error.reason }]
  }
}

async function askSession(hosts: AgentHosts, candidate: Candidate): Promise<Check> {
  const { content, sha256, demand, ...asked } = await askServer(hosts, candidate.url)
  const outcome = { ...asked, ...(demand && { findings: findingsOfDemand(demand, candidate.url) }) }
  if (!content || !sha256) return { candidate, ...outcome }
  return { candidate, ...outcome, found: { content, sha256, version: noVersion, cardSignature: null } }
}

const noVersion: Version = { etag: null, lastModified: null }

async function askDocument(
  hosts: AgentHosts,
  candidate: Candidate,
  known: Version | undefined,
  spend: Spend,
): Promise<[Check, ...Check[]]> {
  const { kind, url } = candidate
  const options = { ...specRequests, maxBytes: maxSpecBytes[kind], redirects }
  if (kind === 'web') return [toWebCheck(candidate, await hosts.fetch(url, { ...options, ...asReader(spend) }))]
  const headers = conditionsOf(known)
  const answer = toAnswer(await hosts.fetch(url, { ...options, headers, mayRedirect: isSameSite }))
  const catalog = kind === 'mcp' && answer.status === 200 ? toCatalog(answer.value, url) : undefined
  if (!catalog) return [await toCheck(hosts, candidate, answer, known, spend)]
  const { checks, unasked, cut } = await askCards(hosts, candidate, answer, catalog, spend)
  const first = checks.find((check) => check.candidate.kind === 'mcp')
  // That the card's host is out of reach says nothing about the catalog's, which just answered.
  const isElsewhere = first && first.candidate.url.host !== url.host && isOutOfReach(first.status)
  const own: Check =
    first && !isElsewhere
      ? { ...withCut(first, cut), candidate, unasked }
      : {
          ...toResult(candidate, answer),
          unasked,
          status: 'schema_mismatch',
          isUndecided: !first && unasked.length > 0,
        }
  return [
    own,
    ...checks.filter((check) => isElsewhere || check !== first).map((check) => toLed(withCut(check, cut), url)),
  ]
}

/** A page may lie on another site by now, which is asked as one of its own would be. */
const asReader = (spend: Spend) => {
  const mayRedirect = (from: URL, to: URL) => isSameSite(from, to) || spend(to.host)
  return { headers: { accept: 'text/html, */*;q=0.1' }, mayRedirect }
}

function toWebCheck(candidate: Candidate, answer: Fetched): Check {
  const status = statusOf(answer.status) ?? 'ok'
  const found = { content: page, sha256: null, version: noVersion, cardSignature: null }
  return { ...toResult(candidate, answer), status, ...(status === 'ok' && { found }) }
}

/** What a web page says is not read. */
const page: SpecContent = { title: null, version: null, skills: [], tools: [], pathCount: null, details: {} }

const toResult = (candidate: Candidate, { status, elapsedMs }: Fetched) => {
  return { candidate, httpStatus: status, latencyMs: Math.round(elapsedMs) }
}

/**
 * A check of a card with a mark of how many there are where its catalog is cut. No version is kept of a card: the catalog
 * would be requested with that of its first.
 */
function withCut(check: Check, cut: number | undefined): Check {
  if (!check.found) return check
  const { content } = check.found
  const truncated = { ...content.details.truncated, ...(cut !== undefined && { cards: cut }) }
  const details = { ...content.details, ...(cut !== undefined && { truncated }) }
  return { ...check, found: { ...check.found, version: noVersion, content: { ...content, details } } }
}

/** A check of a card with a note of the catalog that led to it. */
function toLed(check: Check, { href: catalog }: URL): Check {
  if (!check.found) return { ...check, catalog }
  const { content } = check.found
  const found = { ...check.found, content: { ...content, details: { ...content.details, catalog } } }
  return { ...check, found, catalog }
}

/**
 * Checks of the cards that a catalog leads to, catalogs that it names included, and addresses of cards that were not asked
 * for. A catalog says nothing about another site. Throws HostClosed for the catalog's own host alone.
 */
async function askCards(
  hosts: AgentHosts,
  candidate: Candidate,
  first: Answer,
  catalog: NonNullable<ReturnType<typeof toCatalog>>,
  spend: Spend,
): Promise<{ checks: readonly Check[]; unasked: readonly string[]; cut: number | undefined }> {
  const { url } = candidate
  const options = { ...specRequests, maxBytes: maxSpecBytes.mcp, redirects, mayRedirect: isSameSite }
  const ask = async (at: URL) =>
    toAnswer(await hosts.fetch(hosts.secured(at), { ...options, headers: conditionsOf(undefined) }))
  const isNear = (at: URL) => isSameSite(url, at) && at.href.length <= maxUrlLength
  const checks: Check[] = []
  const unasked: string[] = []
  const seen = new Set([url.href])
  const catalogs = [...catalog.catalogs]
  const cards = [...catalog.cards]
  let { cut } = catalog

  async function follow(card: CatalogCard | undefined, at: URL) {
    // The agent declares the catalog at most, not what its host's catalog names.
    const led = { ...candidate, kind: card?.kind ?? candidate.kind, url: at, declared: false, contradicted: false }
    if (card) {
      checks.push(...(await orFailure(led, async () => [await toLedCheck(hosts, led, card, first, ask, spend)])))
      return
    }
    const answer = await ask(at).catch((error: unknown) => {
      if (error instanceof DoorError) return undefined
      throw error
    })
    const inner = answer?.status === 200 ? toCatalog(answer.value, at) : undefined
    cards.push(...(inner?.cards ?? []))
    catalogs.push(...(inner?.catalogs ?? []))
    cut ??= inner?.cut
  }

  while (checks.length < mostCards) {
    const card = cards.shift()
    const at = card?.url ?? catalogs.shift()
    if (!at) break
    if (!isNear(at) || seen.has(at.href)) continue
    seen.add(at.href)
    try {
      if (card?.data || spend(at.host)) await follow(card, at)
      else unasked.push(at.href)
    } catch (error) {
      if (!(error instanceof HostClosed) || (at.host === url.host && !(error instanceof RedirectClosed))) throw error
      unasked.push(at.href)
    }
  }
  const left = cards.length + catalogs.length
  return { checks, unasked, cut: left > 0 ? Math.max(cut ?? 0, checks.length + left) : cut }
}

/** Check of one card of a catalog; of one without a kind, by the first reader that takes it. */
async function toLedCheck(
  hosts: AgentHosts,
  candidate: Candidate,
  card: CatalogCard,
  catalog: Answer,
  ask: (at: URL) => Promise<Answer>,
  spend: Spend,
): Promise<Check> {
  const inside = card.data && { ...catalog, body: Buffer.from(JSON.stringify(card.data)), value: card.data }
  const answer = inside ?? (await ask(card.url))
  const read = (['mcp', 'a2a'] as const).find((kind) => readContent[kind](answer.value) !== undefined)
  return toCheck(hosts, { ...candidate, kind: card.kind ?? read ?? candidate.kind }, answer, undefined, spend)
}

async function toCheck(
  hosts: AgentHosts,
  candidate: Candidate,
  answer: Answer,
  known: Version | undefined,
  spend: Spend,
): Promise<Check> {
  const { kind, url } = candidate
  const { status, found, sale: said } = judge(kind, answer, known)
  const isDemand = status === 'payment_required' && said !== undefined
  const signers = createSigners(hosts, url, spend)
  const sale = isDemand ? { ...said, prices: await withSignatures(said.prices, demandOf(answer), url, signers) } : said
  const asked = status === 'payment_required' ? { findings: findingsOfDemand(answer, url) } : {}
  const check = { ...toResult(candidate, answer), status, sale, ...asked }
  if (!found) return check
  const cardSignature = kind === 'a2a' ? await signatureOf(hosts, answer.value, url, spend) : null
  return { ...check, found: { ...found, cardSignature } }
}

interface Judged {
  readonly status: SpecStatus
  readonly found?: Omit<NonNullable<Check['found']>, 'cardSignature'>
  readonly sale?: Sale
}

/** Judges an answer; `sent`: the version that the request asked about, without which a host's 304 says nothing. */
function judge(kind: SpecKind, answer: Answer, sent: Version | undefined): Judged {
  const { status: httpStatus, body, value } = answer
  if (httpStatus === 304 && (sent?.etag || sent?.lastModified)) return { status: 'ok' }
  const status = statusOf(httpStatus)
  if (status === 'payment_required') return { status, sale: saleIn(demandOf(answer)) }
  if (status) return { status }
  if (value === undefined) return { status: 'not_json' }
  const content = readContent[kind](value)
  if (!content) return { status: 'schema_mismatch' }
  const sha256 = createHash('sha256').update(body).digest()
  return { status: 'ok', found: { content, sha256, version: versionOf(answer) }, sale: saleIn(value, kind) }
}
