import { createHash } from 'node:crypto'
import { HostClosed } from '../../hosts/host.ts'
import { type AgentHosts, RedirectClosed } from '../agent-hosts.ts'
import { createAnswers } from './answers/answers.ts'
import type { BackReference, Holdings } from './back-reference.ts'
import { type Candidate, type CandidateInputs, candidatesOf, placeOf } from './candidates.ts'
import { isOutOfReach, isSignOfLife } from './check-status.ts'
import type { KnownDocument } from './document-standing.ts'
import { askOrigin } from './domain-proof.ts'
import { readerVersion } from './kinds.ts'
import { type Check, type CheckUp, probe } from './probe.ts'
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
export function checkUp(hosts: AgentHosts, inputs: CheckUpInputs): Promise<CheckUp> {
  return new Visits(hosts, inputs).all()
}

/** The visits to the hosts of one check-up, and what came of them so far. */
class Visits {
  readonly #hosts: AgentHosts
  readonly #inputs: CheckUpInputs
  readonly #found: ReturnType<typeof candidatesOf>
  readonly #known: ReadonlyMap<string, KnownDocument>
  /** Groups of candidates, the most promising first. */
  readonly #groups: readonly (readonly Candidate[])[]
  readonly #answersTo: ReturnType<typeof createAnswers>
  readonly #counted: AgentHosts
  readonly #requests = new Map<string, number>()

  readonly #checks: Check[] = []
  readonly #references = new Map<string, BackReference>()
  /** Addresses of cards in catalogs that were not asked for. */
  readonly #unasked = new Set<string>()
  #closedUntil: Date | undefined
  #wasAsked = false

  constructor(hosts: AgentHosts, inputs: CheckUpInputs) {
    this.#hosts = hosts
    this.#inputs = inputs
    this.#found = candidatesOf({ ...inputs, secured: hosts.secured })
    this.#known = new Map(inputs.known.map((document) => [`${document.kind} ${document.url}`, document]))
    this.#groups = [...this.#found.groups].sort((a, b) => this.#rank(a) - this.#rank(b))
    const spend = (host: string) => this.#spend(host)
    this.#answersTo = createAnswers({ hosts, spend })
    this.#counted = countedHosts(hosts, spend)
  }

  async all(): Promise<CheckUp> {
    const hosts = [...new Set(this.#groups.flatMap((group) => group.map(({ url }) => url.host)))]
    const inTurn = hosts.length <= mostHosts ? hosts : byTurn(hosts, this.#inputs.turn, (host) => host)
    await Promise.all(inTurn.slice(0, mostHosts).map((host) => this.#visit(host)))
    const candidates = this.#groups.flat()
    return {
      checks: this.#checks,
      places: new Set([...candidates.map(placeOf), ...this.#ledTo(candidates)]),
      references: this.#references,
      contradicted: new Set(candidates.flatMap((one) => (one.contradicted ? [placeOf(one)] : []))),
      closedUntil: this.#closedUntil,
      wasAsked: this.#wasAsked,
      truncated: this.#found.truncated,
    }
  }

  /** Places of cards that a catalog named: they stay while the catalog is not read, or the card's host is not asked. */
  #ledTo(candidates: readonly Candidate[]): string[] {
    const read = new Set(this.#checks.flatMap(({ catalog }) => catalog ?? []))
    const asked = new Set(candidates.map(({ url }) => url.href))
    const led = this.#inputs.known.filter(({ url, content }) => {
      const { catalog } = content?.details ?? {}
      return catalog !== undefined && asked.has(catalog) && (!read.has(catalog) || this.#unasked.has(url))
    })
    return led.map(placeOf)
  }

  async #visit(host: string) {
    try {
      await this.#lookAt(host)
    } catch (error) {
      if (error instanceof OutOfReach) {
        for (const candidate of this.#groups.flat()) {
          const counts = candidate.url.host === host && (candidate.declared || this.#isKnown(candidate))
          if (counts && !this.#isChecked(candidate)) this.#checks.push({ ...error.check, candidate, latencyMs: null })
        }
      } else if (error instanceof HostClosed) this.#noteClosed(error)
      else throw error
    }
  }

  async #lookAt(host: string) {
    const all = this.#groups.filter((group) => group[0]?.url.host === host)
    const own =
      all.flat().length < mostRequests ? all : byTurn(all, this.#inputs.turn, placesOf, (group) => this.#rank(group))
    const settled = new Set<string>()
    for (const group of own) {
      const [first] = group
      if (!first || (settled.has(first.kind) && !first.declared && !first.leads)) continue
      const knownFirst = [...group].sort((a, b) => Number(this.#isKnown(b)) - Number(this.#isKnown(a)))
      if (await this.#tryGroup(knownFirst)) settled.add(first.kind)
      // Not before: an unreachable host is known by then. Not last: the limit must not cut off the proof.
      if (group === own[0])
        for (const origin of this.#found.origins.filter((one) => one.host === host)) await this.#prove(origin)
    }
  }

  /** Whether a document of the kind was found. Throws OutOfReach. */
  async #tryGroup(group: readonly Candidate[]): Promise<boolean> {
    for (const candidate of group) {
      const { host } = candidate.url
      // A session takes several requests, each of which counts.
      if (!candidate.session && !this.#spend(host)) return false
      const version = versionOf(this.#known.get(placeOf(candidate)))
      const through = candidate.session ? this.#counted : this.#hosts
      const follows = (at: string) => this.#spend(host) && (at === host || this.#spend(at))
      const asked = await this.#orClosed(probe(through, candidate, version, follows))
      if (!asked) continue
      const [check] = asked
      for (const one of asked) await this.#add(one)
      if (isSignOfLife(check)) return true
      if (isOutOfReach(check.status)) throw new OutOfReach(check)
    }
    return false
  }

  async #add(check: Check) {
    for (const url of check.unasked ?? []) this.#unasked.add(url)
    // A catalog may name a card that lies where cards usually do.
    if (check.isUndecided || this.#isChecked(check.candidate)) return
    const { details } = check.found?.content ?? this.#known.get(placeOf(check.candidate))?.content ?? {}
    this.#checks.push({ ...check, answered: await this.#answersTo(check, details) })
  }

  /** Undefined: it led to a host that may not be asked now, or no request is left. Throws HostClosed for the host itself. */
  async #orClosed<T>(work: Promise<T>): Promise<T | undefined> {
    try {
      return await work
    } catch (error) {
      if (error instanceof RequestsSpent) return undefined
      if (!(error instanceof RedirectClosed)) throw error
      this.#noteClosed(error)
      return undefined
    }
  }

  async #prove(origin: URL) {
    if (!this.#spend(origin.host)) return
    const reference = await this.#orClosed(askOrigin(this.#hosts, origin, this.#inputs.holdings))
    if (reference !== undefined) this.#references.set(origin.host, reference)
  }

  #noteClosed(error: HostClosed) {
    if (this.#closedUntil === undefined || error.until < this.#closedUntil) this.#closedUntil = error.until
    this.#wasAsked ||= error.wasAsked
  }

  /** Whether a host may be asked once more. */
  #spend(host: string): boolean {
    const made = this.#requests.get(host) ?? 0
    this.#requests.set(host, made + 1)
    return made < mostRequests
  }

  #isKnown(candidate: Candidate) {
    return this.#known.has(placeOf(candidate))
  }

  #isChecked(candidate: Candidate) {
    return this.#checks.some((one) => placeOf(one.candidate) === placeOf(candidate))
  }

  #rank(group: readonly Candidate[]) {
    return group[0]?.declared ? 0 : group.some((one) => this.#isKnown(one)) ? 1 : 2
  }
}

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
