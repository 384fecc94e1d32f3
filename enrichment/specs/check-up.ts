import { createHash } from 'node:crypto'
import { HostClosed } from '../../hosts/host.ts'
import { type AgentHosts, RedirectClosed } from '../agent-hosts.ts'
import { createAnswers } from './answers/answers.ts'
import type { BackReference, Holdings } from './back-reference.ts'
import { type Candidate, type CandidateInputs, candidatesOf } from './candidates.ts'
import { isOutOfReach, isSignOfLife } from './check-status.ts'
import type { KnownDocument } from './document-standing.ts'
import { askOrigin } from './domain-proof.ts'
import { readerVersion } from './kinds.ts'
import { type Check, type CheckUp, placeOf, probe } from './probe.ts'
import { countedHosts, RequestsSpent } from './spec-requests.ts'

interface CheckUpInputs extends Omit<CandidateInputs, 'secured'> {
  /** Another text each time: it decides whose turn it is. */
  readonly turn: string
  readonly holdings: Holdings
  readonly known: readonly KnownDocument[]
}

/**
 * Most hosts of one check-up, and requests to each of them. Where an agent has more hosts, or a host more places, another
 * part of them has its turn each time, so that none is never asked.
 */
const mostHosts = 4
const mostRequests = 20

/**
 * Checks every place where an agent's documents may be: hosts concurrently, the places of a host one after the other,
 * those with a known document first. A host that cannot be reached is not asked twice. Never throws for what hosts do.
 */
export async function checkUp(hosts: AgentHosts, inputs: CheckUpInputs): Promise<CheckUp> {
  const { groups, origins, truncated } = candidatesOf({ ...inputs, secured: hosts.secured })
  const known = new Map(inputs.known.map((document) => [`${document.kind} ${document.url}`, document]))
  const isKnown = (candidate: Candidate) => known.has(placeOf(candidate))
  const rank = (group: readonly Candidate[]) => (group[0]?.declared ? 0 : group.some(isKnown) ? 1 : 2)
  const ordered = [...groups].sort((a, b) => rank(a) - rank(b))
  const allHosts = [...new Set(ordered.flatMap((group) => group.map(({ url }) => url.host)))]
  const hostsInTurn = allHosts.length <= mostHosts ? allHosts : byTurn(allHosts, inputs.turn, (host) => host)

  const checks: Check[] = []
  const references = new Map<string, BackReference>()
  let closedUntil: Date | undefined
  let wasAsked = false
  const requests = new Map<string, number>()
  /** Addresses of cards in catalogs that were not asked for. */
  const unasked = new Set<string>()

  /** Whether a host may be asked once more. */
  function spend(host: string): boolean {
    const made = requests.get(host) ?? 0
    requests.set(host, made + 1)
    return made < mostRequests
  }

  const answersTo = createAnswers({ hosts, spend })
  const counted = countedHosts(hosts, spend)

  async function lookAt(host: string) {
    const all = ordered.filter((group) => group[0]?.url.host === host)
    const own = all.flat().length < mostRequests ? all : byTurn(all, inputs.turn, placesOf, rank)
    const settled = new Set<string>()
    for (const group of own) {
      const [first] = group
      if (!first || (settled.has(first.kind) && !first.declared && !first.leads)) continue
      if (await tryGroup([...group].sort((a, b) => Number(isKnown(b)) - Number(isKnown(a))))) settled.add(first.kind)
      // Not before: an unreachable host is known by then. Not last: the limit must not cut off the proof.
      if (group === own[0]) for (const origin of origins.filter((one) => one.host === host)) await prove(origin)
    }
  }

  /** Whether a document of the kind was found. Throws OutOfReach. */
  async function tryGroup(group: readonly Candidate[]): Promise<boolean> {
    for (const candidate of group) {
      const { host } = candidate.url
      // A session takes several requests, each of which counts.
      if (!candidate.session && !spend(host)) return false
      const version = versionOf(known.get(placeOf(candidate)))
      const through = candidate.session ? counted : hosts
      const asked = await orClosed(
        probe(through, candidate, version, (at) => spend(host) && (at === host || spend(at))),
      )
      if (!asked) continue
      const [check] = asked
      for (const one of asked) {
        for (const url of one.unasked ?? []) unasked.add(url)
        if (one.isUndecided || isChecked(one, checks)) continue
        const { details } = one.found?.content ?? known.get(placeOf(one.candidate))?.content ?? {}
        checks.push({ ...one, answered: await answersTo(one, details) })
      }
      if (isSignOfLife(check)) return true
      if (isOutOfReach(check.status)) throw new OutOfReach(check)
    }
    return false
  }

  /** Undefined: it led to a host that may not be asked now, or no request is left. Throws HostClosed for the host itself. */
  async function orClosed<T>(work: Promise<T>): Promise<T | undefined> {
    try {
      return await work
    } catch (error) {
      if (error instanceof RequestsSpent) return undefined
      if (!(error instanceof RedirectClosed)) throw error
      noteClosed(error)
      return undefined
    }
  }

  function noteClosed(error: HostClosed) {
    if (closedUntil === undefined || error.until < closedUntil) closedUntil = error.until
    wasAsked ||= error.wasAsked
  }

  async function prove(origin: URL) {
    if (!spend(origin.host)) return
    const reference = await orClosed(askOrigin(hosts, origin, inputs.holdings))
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
      } else if (error instanceof HostClosed) noteClosed(error)
      else throw error
    }
  }

  await Promise.all(hostsInTurn.slice(0, mostHosts).map(visit))
  // A card that a catalog named keeps its place while the catalog is not read, or the card's host is not asked.
  const read = new Set(checks.flatMap(({ catalog }) => catalog ?? []))
  const candidates = new Set(ordered.flat().map(({ url }) => url.href))
  const led = inputs.known.filter(({ url, content }) => {
    const { catalog } = content?.details ?? {}
    return catalog !== undefined && candidates.has(catalog) && (!read.has(catalog) || unasked.has(url))
  })
  const places = new Set([...ordered.flat().map(placeOf), ...led.map(({ kind, url }) => `${kind} ${url}`)])
  const contradicted = new Set(ordered.flat().flatMap((one) => (one.contradicted ? [placeOf(one)] : [])))
  return { checks, places, references, contradicted, closedUntil, wasAsked, truncated }
}

/** Whether a place was checked already: a catalog may name a card that lies where cards usually do. */
const isChecked = (check: Check, checks: readonly Check[]) =>
  checks.some((one) => placeOf(one.candidate) === placeOf(check.candidate))

const placesOf = (group: readonly Candidate[]) => group.map(placeOf).join(' ')

/** A list in an order that differs from turn to turn, within ranks. */
function byTurn<T>(list: readonly T[], turn: string, keyOf: (one: T) => string, rank: (one: T) => number = () => 0) {
  const drawn = new Map(
    list.map((one) => [
      one,
      createHash('sha256')
        .update(`${turn} ${keyOf(one)}`)
        .digest('hex'),
    ]),
  )
  return [...list].sort((a, b) => rank(a) - rank(b) || (drawn.get(a)! < drawn.get(b)! ? -1 : 1))
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
