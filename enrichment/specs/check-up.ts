import { HostClosed } from '../../hosts/host.ts'
import type { AgentHosts } from '../agent-hosts.ts'
import type { BackReference, Holdings } from './back-reference.ts'
import { type Candidate, type CandidateInputs, candidatesOf } from './candidates.ts'
import { isOutOfReach, isSignOfLife } from './check-status.ts'
import type { KnownDocument } from './document-standing.ts'
import { askOrigin } from './domain-proof.ts'
import { readerVersion } from './kinds.ts'
import { type Check, type CheckUp, placeOf, probe } from './probe.ts'

interface CheckUpInputs extends Omit<CandidateInputs, 'secured'> {
  readonly holdings: Holdings
  readonly known: readonly KnownDocument[]
}

/** Most requests of one check-up. */
const mostRequests = 12

/**
 * Checks every place where an agent's documents may be: hosts concurrently, the places of a host one after the other,
 * those with a known document first. A host that cannot be reached is not asked twice. Never throws for what hosts do.
 */
export async function checkUp(hosts: AgentHosts, inputs: CheckUpInputs): Promise<CheckUp> {
  const { groups, origins } = candidatesOf({ ...inputs, secured: hosts.secured })
  const known = new Map(inputs.known.map((document) => [`${document.kind} ${document.url}`, document]))
  const isKnown = (candidate: Candidate) => known.has(placeOf(candidate))
  const rank = (group: readonly Candidate[]) => (group[0]?.declared ? 0 : group.some(isKnown) ? 1 : 2)
  const ordered = [...groups].sort((a, b) => rank(a) - rank(b))

  const checks: Check[] = []
  const references = new Map<string, BackReference>()
  let closedUntil: Date | undefined
  let wasAsked = false
  let left = mostRequests

  async function lookAt(host: string) {
    const own = ordered.filter((group) => group[0]?.url.host === host)
    const settled = new Set<string>()
    for (const group of own) {
      const [first] = group
      if (!first || (settled.has(first.kind) && !first.declared)) continue
      if (await tryGroup([...group].sort((a, b) => Number(isKnown(b)) - Number(isKnown(a))))) settled.add(first.kind)
      // Not before: an unreachable host is known by then. Not last: the limit must not cut off the proof.
      if (group === own[0]) for (const origin of origins.filter((one) => one.host === host)) await prove(origin)
    }
  }

  /** Whether a document of the kind was found. Throws OutOfReach. */
  async function tryGroup(group: readonly Candidate[]): Promise<boolean> {
    for (const candidate of group) {
      if (left-- <= 0) return false
      const check = await probe(hosts, candidate, versionOf(known.get(placeOf(candidate))))
      checks.push(check)
      if (isSignOfLife(check)) return true
      if (isOutOfReach(check.status)) throw new OutOfReach(check)
    }
    return false
  }

  async function prove(origin: URL) {
    if (left-- <= 0) return
    const reference = await askOrigin(hosts, origin, inputs.holdings)
    if (reference !== undefined) references.set(origin.host, reference)
  }

  async function visit(host: string) {
    try {
      await lookAt(host)
    } catch (error) {
      if (error instanceof OutOfReach) {
        for (const candidate of ordered.flat()) {
          const counts = candidate.url.host === host && (candidate.declared || isKnown(candidate))
          const asked = checks.some((check) => placeOf(check.candidate) === placeOf(candidate))
          if (counts && !asked) checks.push({ ...error.check, candidate, latencyMs: null })
        }
      } else if (error instanceof HostClosed) {
        if (closedUntil === undefined || error.until < closedUntil) closedUntil = error.until
        wasAsked ||= error.wasAsked
      } else throw error
    }
  }

  await Promise.all([...new Set(ordered.flatMap((group) => group.map(({ url }) => url.host)))].map(visit))
  const places = new Set(ordered.flat().map(placeOf))
  const contradicted = new Set(ordered.flat().flatMap((one) => (one.contradicted ? [placeOf(one)] : [])))
  return { checks, places, references, contradicted, closedUntil, wasAsked }
}

/** The version to ask by; undefined: none is known, or older readers read it. */
function versionOf(known: KnownDocument | undefined) {
  return known?.reader === readerVersion ? known.version : undefined
}

/** The host cannot be reached: its other places need not be tried. */
class OutOfReach extends Error {
  override readonly name = 'OutOfReach'

  constructor(readonly check: Check) {
    super(check.status)
  }
}
