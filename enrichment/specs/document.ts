import type { StoredSpec } from '../../db/queries/sources/agent-specs.ts'
import { day, hour } from '../../ops/time.ts'
import type { SpecContent } from './content.ts'
import type { SpecKind } from './kinds.ts'
import type { Price } from './prices.ts'
import { type Check, type CheckUp, isAlive, isOutOfReach, placeOf } from './probe.ts'
import type { SpecStatus } from './status.ts'

/** A document of an agent with the history of its checks. */
export interface KnownDocument extends StoredSpec {
  readonly kind: SpecKind
  readonly prices: readonly Price[]
  readonly lastCheckStatus: SpecStatus
}

/** Words of `spec_check_status` (docs/rules.md 3), once a look was taken. */
type SpecStanding = 'found' | 'not_found' | 'unreachable' | 'invalid'

/** A document is dead after so many failures in a row and so long without a sign of life. */
const deadly = { failures: 5, silentMs: 72 * hour }
/** A place that the limit of a look keeps cutting off is not known any more after so long. */
const forgottenMs = 7 * day

/**
 * An agent's documents after a look. One that fails keeps its content and its place until it is dead, and for ever when
 * the agent declares it; one that lies nowhere any more, as the agent names other places, is dropped.
 */
export function documentsAfter(known: readonly KnownDocument[], look: CheckUp, now: Date): KnownDocument[] {
  const before = new Map(known.map((document) => [`${document.kind} ${document.url}`, document]))
  const checked = look.checks.flatMap((check) => {
    const document = before.get(placeOf(check.candidate))
    return document || check.candidate.declared || isAlive(check) ? [documentAfter(document, check, now)] : []
  })
  const asked = new Set(look.checks.map(({ candidate }) => placeOf(candidate)))
  const unasked = [...before]
    .filter(([place]) => look.places.has(place) && !asked.has(place))
    .map(([, document]) => document)
    .filter(({ lastCheckAt }) => now.getTime() - lastCheckAt.getTime() < forgottenMs)
  return [...checked, ...unasked]
    .filter((document) => document.declared || !isDead(document, now))
    .map((document) => {
      const reference = look.references.get(new URL(document.url).host)
      const domainVerified = reference ? reference === 'confirmed' : document.domainVerified
      const contradicted = look.contradicted.has(`${document.kind} ${document.url}`)
      const backReference = contradicted ? 'contradicted' : (reference ?? document.backReference)
      return { ...document, domainVerified, backReference }
    })
}

function documentAfter(before: KnownDocument | undefined, check: Check, now: Date): KnownDocument {
  const { candidate, found, status, httpStatus, latencyMs } = check
  const alive = isAlive(check)
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
    cardSignature: found ? found.cardSignature : (before?.cardSignature ?? null),
    prices: pricesAfter(before, check),
    firstSeenAt: before?.firstSeenAt ?? now,
    lastAliveAt: alive ? now : (before?.lastAliveAt ?? null),
    lastCheckAt: now,
    lastCheckStatus: status,
    httpStatus,
    latencyMs,
    consecutiveFailures: alive ? 0 : (before?.consecutiveFailures ?? 0) + 1,
  }
}

/** A document that was read keeps what it asks for when who wants to be paid for it now does not say how. */
function pricesAfter(before: KnownDocument | undefined, { found, prices = before?.prices ?? [] }: Check) {
  return prices.length === 0 && !found && before?.content ? before.prices : prices
}

/** Whether a tool kept its name but changed its definition: whoever agreed to the old one now has the new one. */
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

/** Whether a document counts as there: it gave a sign of life and is not dead. */
export function stands(document: KnownDocument, now: Date): boolean {
  return document.lastAliveAt !== null && !isDead(document, now)
}

/** What a round of checks says of the agent as a whole. */
export function standingOf(documents: readonly KnownDocument[], { checks }: CheckUp, now: Date): SpecStanding {
  if (documents.some((document) => stands(document, now))) return 'found'
  const declared = documents.filter((document) => document.declared)
  const wrong: readonly SpecStatus[] = ['not_json', 'schema_mismatch', 'too_large', 'redirect_refused']
  if (declared.some(({ lastCheckStatus }) => wrong.includes(lastCheckStatus))) return 'invalid'
  const silent = (status: SpecStatus) => isOutOfReach(status) || status === 'http_5xx'
  if (declared.some(({ lastCheckStatus }) => silent(lastCheckStatus))) return 'unreachable'
  // A host nobody may ask, such as one of a template, has nothing as far as we can tell.
  const askable = checks.filter(({ status }) => status !== 'blocked')
  return askable.length > 0 && askable.every(({ status }) => silent(status)) ? 'unreachable' : 'not_found'
}
