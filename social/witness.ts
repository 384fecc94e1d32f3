import { NoAnswer } from '../hosts/no-answer.ts'
import { readHubMessage } from '../trust/hub-message.ts'
import { judgeVerification } from '../trust/verdict.ts'
import { type Known, whyIgnorant, whyStale } from './hub-staleness.ts'
import type { SocialIndex } from './social-index.ts'

/** A second hub, asked whether it knows the messages that the followed hub returned. */
export interface Witness {
  readonly url: string
  /** Asks the hub for the messages of an account about a subject; `now` is the current time. */
  testify(fid: number, about: Subject, now: Date): Promise<Testimony>
  /** Whether it says that a user name is the account's; undefined: no answer that counts. */
  confirmsName(fid: number, name: string, now: Date): Promise<boolean | undefined>
}

/** What a message is about: the verification of an address, or the profile of an account. */
export type Subject = 'verifications' | 'profile'

/**
 * `says`: it is fresh, and these are the hashes (0x hex) of the messages that it knows. `stale`: it is behind, so what
 * it lacks means nothing. `forged`: it showed a false message, so nothing else of its answer counts. `silent`: no answer.
 */
type Testimony =
  | { readonly kind: 'says'; readonly hashes: ReadonlySet<string> }
  | { readonly kind: 'stale' | 'forged' | 'silent'; readonly why: string }

/** Milliseconds for which a hub's staleness is cached. */
const freshnessMs = 60_000
/** Milliseconds for which a hub that did not answer is not asked again: a claim asks once for each address. */
const silenceMs = 10_000

/** `known`: of the network, from the hub that is followed. */
export function createWitness(
  url: string,
  hub: Pick<SocialIndex, 'network' | 'verifications' | 'statements' | 'nameHolder'>,
  known: () => Promise<Known>,
): Witness {
  let looked: { readonly at: number; readonly staleness: string | undefined } | undefined
  let silence: { readonly at: number; readonly error: NoAnswer } | undefined
  const isWithin = (since: number, now: number, forMs: number) => now >= since && now - since < forMs

  /** Why the hub is stale, so that messages it lacks mean nothing; undefined: it is up to date. */
  async function staleness(now: number): Promise<string | undefined> {
    if (looked && isWithin(looked.at, now, freshnessMs)) return looked.staleness
    const network = await hub.network()
    const unsaid = network.delaySeconds === undefined ? 'it does not say how old its newest block is' : undefined
    looked = { at: now, staleness: whyStale(network) ?? unsaid ?? whyIgnorant(network, await known()) }
    return looked.staleness
  }

  /** What the hub answers, unless it has just given no answer. Throws NoAnswer. */
  async function ask<T>(now: number, question: () => Promise<T>): Promise<T> {
    if (silence && isWithin(silence.at, now, silenceMs)) throw silence.error
    try {
      return await question()
    } catch (error) {
      if (error instanceof NoAnswer && !error.isAboutOne) silence = { at: now, error }
      throw error
    }
  }

  return {
    url,
    async testify(fid, about, now) {
      try {
        const stale = await ask(now.getTime(), () => staleness(now.getTime()))
        if (stale) return { kind: 'stale', why: stale }
        return await ask(now.getTime(), () => said(hub, fid, about, now))
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error
        return { kind: 'silent', why: error.message }
      }
    },

    async confirmsName(fid, name, now) {
      try {
        return await ask(now.getTime(), async () =>
          (await staleness(now.getTime())) ? undefined : (await hub.nameHolder(name)) === fid,
        )
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error
        return undefined
      }
    },
  }
}

/** The messages that a hub has of an account. Throws NoAnswer. */
async function said(
  hub: Pick<SocialIndex, 'verifications' | 'statements'>,
  fid: number,
  about: 'verifications' | 'profile',
  now: Date,
): Promise<Testimony> {
  if (about === 'profile') {
    const statements = await hub.statements(fid)
    return { kind: 'says', hashes: new Set(statements.map(({ message }) => messageHashOf(message))) }
  }
  const hashes = new Set<string>()
  for (const { address, message } of await hub.verifications(fid)) {
    const { verdict } = await judgeVerification(readHubMessage(message), { fid, address, now })
    if (verdict === 'forged') return { kind: 'forged', why: `a forged verification of ${address}` }
    hashes.add(messageHashOf(message))
  }
  return { kind: 'says', hashes }
}

/** The hash that a message of a hub names: lowercase, 0x hex. */
export function messageHashOf(message: unknown): string {
  return String((message as { hash?: unknown } | null)?.hash).toLowerCase()
}

/** A hub that contradicts the followed one. */
export interface Contradiction {
  /** Its host name. */
  readonly hub: string
  /** Hash of the message that it does not know, 0x hex. */
  readonly message: string
}

/** Another, up-to-date hub that lacks the message; undefined: none does. Hubs without an answer are ignored. */
export async function contradictionOf(
  witnesses: readonly Witness[],
  { fid, about, message }: { readonly fid: number; readonly about: Subject; readonly message: string },
  now: Date,
): Promise<Contradiction | undefined> {
  const testimonies = await Promise.all(witnesses.map(({ testify }) => testify(fid, about, now)))
  const against = testimonies.findIndex((testimony) => testimony.kind === 'says' && !testimony.hashes.has(message))
  const hub = witnesses[against]?.url
  return hub === undefined ? undefined : { hub: new URL(hub).host, message }
}
