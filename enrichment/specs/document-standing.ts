import { profileLimits } from '../../config/limits.ts'
import type { SpecContent, StoredSpec } from '../../db/queries/sources/agent-specs.ts'
import { day, hour } from '../../ops/time.ts'
import { placeOf } from './candidates.ts'
import { isOutOfReach, isSignOfLife, type SpecStatus } from './check-status.ts'
import { findingsOfDocument } from './findings/document.ts'
import { type StoredFinding, sinceWhen } from './findings/finding.ts'
import { readerVersion, type SpecKind } from './kinds.ts'
import { noSale, type Price, type Sale } from './prices.ts'
import type { Check, CheckUp } from './probe.ts'

/** A document of an agent with the results of its checks. */
export interface KnownDocument extends StoredSpec {
  readonly kind: SpecKind
  readonly content: SpecContent | undefined
  readonly prices: Sale['prices']
  readonly resources: Sale['resources']
  readonly lastCheckStatus: SpecStatus
  readonly findings: readonly StoredFinding[]
}

/** Values of `spec_check_status` (docs/rules.md 3) after a check-up. */
type SpecStanding = 'found' | 'not_found' | 'unreachable' | 'invalid'

/** A document is dead after this many failures in a row and, as well, this long without a sign of life. */
const deadly = { failures: 5, silentMs: 72 * hour }
/** Signed offers of an agent that are checked for their fulfilment. */
const mostFollowed = 20
/** Milliseconds after which a place is dropped that the limit of requests keeps cutting off. */
const forgottenMs = 7 * day

/** The documents that are kept if there are too many: those a registration names, then those that stand, then the last alive. */
export function keptOf(documents: readonly KnownDocument[], now: Date): KnownDocument[] {
  if (documents.length <= profileLimits.documents) return [...documents]
  const rank = (one: KnownDocument) => Number(one.declared) * 2 + Number(stands(one, now))
  const aliveAt = (one: KnownDocument) => one.lastAliveAt?.getTime() ?? 0
  return [...documents]
    .sort((a, b) => rank(b) - rank(a) || aliveAt(b) - aliveAt(a) || (placeOf(a) < placeOf(b) ? -1 : 1))
    .slice(0, profileLimits.documents)
}

/**
 * An agent's documents after a check-up. A document that fails keeps its content and its place until it is dead, and
 * for ever when the agent declares it; one whose place is no longer a candidate, as the agent names others, is dropped.
 */
export function documentsAfter(known: readonly KnownDocument[], look: CheckUp, now: Date): KnownDocument[] {
  const before = new Map(known.map((document) => [placeOf(document), document]))
  const checked = look.checks.flatMap((check) => {
    const document = before.get(placeOf(check.candidate))
    return document || check.candidate.declared || isSignOfLife(check) ? [documentAfter(document, check, now)] : []
  })
  const asked = new Map(look.checks.map((check) => [placeOf(check.candidate), check]))
  const unasked = [...before]
    .filter(([place]) => look.places.has(place) && !asked.has(place))
    .map(([, document]) => document)
    .filter(({ lastCheckAt }) => now.getTime() - lastCheckAt.getTime() < forgottenMs)
  const documents = [...checked, ...unasked].filter((document) => document.declared || !isDead(document, now))
  return withFollowed(documents).map((document) => {
    const reference = look.references.get(new URL(document.url).host)
    const domainVerified = reference ? reference === 'confirmed' : document.domainVerified
    const place = placeOf(document)
    const contradicted = look.contradicted.has(place)
    const backReference = contradicted ? 'contradicted' : (reference ?? document.backReference)
    return withFindings({ ...document, domainVerified, backReference }, asked.get(place), now)
  })
}

/**
 * Documents with the signed offers of the agent that are followed, those that were seen first: readers look up the payments
 * to each payee, which may be anybody who is paid all the time. Of the others it is not said since when they were seen.
 */
function withFollowed(documents: readonly KnownDocument[]): KnownDocument[] {
  const seenAt = ({ signedSince }: Price) => Date.parse(signedSince ?? '')
  const signed = documents.flatMap(({ prices }) => prices.filter(({ signedSince }) => signedSince !== undefined))
  const followed = new Set(signed.sort((a, b) => seenAt(a) - seenAt(b)).slice(0, mostFollowed))
  const unfollowed = ({ signedSince: _, ...price }: Price): Price => price
  return documents.map((document) => {
    return { ...document, prices: document.prices.map((price) => (followed.has(price) ? price : unfollowed(price))) }
  })
}

/** A document with what was found of it; without a check, with what was found before. */
function withFindings(document: KnownDocument, check: Check | undefined, now: Date): KnownDocument {
  if (!check) return document
  const looked = findingsOfDocument({ ...document, status: check.status, reason: check.reason })
  return { ...document, findings: sinceWhen([...(check.findings ?? []), ...looked], document.findings, now) }
}

function documentAfter(before: KnownDocument | undefined, check: Check, now: Date): KnownDocument {
  const { candidate, found, status, httpStatus, latencyMs } = check
  const alive = isSignOfLife(check)
  return {
    kind: candidate.kind,
    url: candidate.url.href,
    declared: candidate.declared,
    content: found?.content ?? before?.content,
    sha256: found?.sha256 ?? before?.sha256 ?? null,
    version: found?.version ?? before?.version,
    domainVerified: before?.domainVerified ?? false,
    backReference: before?.backReference ?? null,
    toolsChangedAt: hasChangedTool(before?.content, found?.content) ? now : (before?.toolsChangedAt ?? null),
    cardSignature: signatureAfter(before, found),
    ...saleAfter(before, check, now),
    reader: found ? readerVersion : (before?.reader ?? 0),
    firstSeenAt: before?.firstSeenAt ?? now,
    lastAliveAt: alive ? now : (before?.lastAliveAt ?? null),
    lastCheckAt: now,
    lastCheckStatus: status,
    httpStatus,
    latencyMs,
    findings: before?.findings ?? [],
    chainBlocks: check.blocks ?? [],
    consecutiveFailures: alive ? 0 : (before?.consecutiveFailures ?? 0) + 1,
    answers: answersAfter(before, check, now),
  }
}

/** How it answers after a check, and since when so; what was not asked this time answers as before. */
function answersAfter(before: KnownDocument | undefined, { answered, status }: Check, now: Date) {
  const answer = answered ?? (isOutOfReach(status) ? { code: status, latencyMs: null } : undefined)
  if (!answer) return before?.answers ?? null
  return { ...answer, since: before?.answers?.code === answer.code ? before.answers.since : now }
}

/** Verdict on a card's signatures after a check: where none was come to, that on the same card before. */
function signatureAfter(before: KnownDocument | undefined, found: Check['found']): KnownDocument['cardSignature'] {
  if (found?.cardSignature !== undefined) return found.cardSignature
  return !found || (before?.sha256 && found.sha256?.equals(before.sha256)) ? (before?.cardSignature ?? null) : null
}

/** What is for sale after a check: a document read earlier keeps it when it now demands payment without naming any price. */
function saleAfter(before: KnownDocument | undefined, { found, sale }: Check, now: Date): Sale {
  const { prices, resources, truncated } = before ?? noSale
  const known = { prices, resources, truncated }
  if (!sale) return known
  if (sale.prices.length === 0 && !found && before?.content) return known
  return { ...sale, prices: sale.prices.map((price) => sinceSigned(price, prices, now)) }
}

/** A price with when its offer was first seen signed as it is. */
function sinceSigned(price: Price, before: readonly Price[], now: Date): Price {
  if (price.signedUntil === undefined) return price
  const members = ['resource', 'scheme', 'network', 'asset', 'amount', 'payTo', 'signedUntil', 'signedBy'] as const
  const same = before.find((one) => members.every((member) => one[member] === price[member]))
  return { ...price, signedSince: same?.signedSince ?? now.toISOString() }
}

/** Whether a tool kept its name but changed its definition, so that clients that approved the old one get the new. */
function hasChangedTool(before: SpecContent | undefined, after: SpecContent | undefined): boolean {
  const known = new Map(before?.tools.map((name, index) => [name, before.toolHashes?.[index]]))
  return (
    after?.tools.some((name, index) => {
      const was = known.get(name)
      const is = after.toolHashes?.[index]
      return was !== undefined && is !== undefined && was !== is
    }) ?? false
  )
}

function isDead({ consecutiveFailures, lastAliveAt }: KnownDocument, now: Date): boolean {
  const silentMs = lastAliveAt ? now.getTime() - lastAliveAt.getTime() : Number.POSITIVE_INFINITY
  return consecutiveFailures >= deadly.failures && silentMs > deadly.silentMs
}

/** Whether it is alive still, as far as is known: it gave a sign of life and is not dead. */
export function stands(document: KnownDocument, now: Date): boolean {
  return document.lastAliveAt !== null && !isDead(document, now)
}

/** Verdict of a check-up on the documents of an agent as a whole; its web pages are none. */
export function standingOf(all: readonly KnownDocument[], { checks }: CheckUp, now: Date): SpecStanding {
  const documents = all.filter(({ kind }) => kind !== 'web')
  if (documents.some((document) => stands(document, now))) return 'found'
  const declared = documents.filter((document) => document.declared)
  const wrong: readonly SpecStatus[] = ['not_json', 'schema_mismatch', 'too_large', 'redirect_refused']
  if (declared.some(({ lastCheckStatus }) => wrong.includes(lastCheckStatus))) return 'invalid'
  const silent = (status: SpecStatus) => isOutOfReach(status) || status === 'http_5xx'
  if (declared.some(({ lastCheckStatus }) => silent(lastCheckStatus))) return 'unreachable'
  // A host that may not be asked, such as one in a template, counts as without documents.
  const askable = checks.filter(({ status }) => status !== 'blocked')
  return askable.length > 0 && askable.every(({ status }) => silent(status)) ? 'unreachable' : 'not_found'
}
