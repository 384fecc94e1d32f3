import { NoAnswer } from '../hosts/no-answer.ts'
import { readHubMessage } from '../trust/hub-message.ts'
import { judgeVerification } from '../trust/verdict.ts'
import { whyStale } from './hub-staleness.ts'
import type { SocialIndex } from './social-index.ts'

/** A second hub, asked whether it knows the messages that the followed hub returned. */
export interface Witness {
  readonly url: string
  /** Asks the hub for the verifications of an account; `now` is the current time. */
  testify(fid: number, now: Date): Promise<Testimony>
}

/**
 * `says`: it is fresh, and these are the hashes (0x hex) of the verifications that it knows. `stale`: it is behind, so what
 * it lacks means nothing. `forged`: it showed a false message, so nothing else of its answer counts. `silent`: no answer.
 */
type Testimony =
  | { readonly kind: 'says'; readonly hashes: ReadonlySet<string> }
  | { readonly kind: 'stale' | 'forged' | 'silent'; readonly why: string }

/** Milliseconds for which a hub's staleness is cached. */
const freshnessMs = 60_000

export function createWitness(url: string, hub: Pick<SocialIndex, 'network' | 'verifications'>): Witness {
  let looked: { readonly at: number; readonly staleness: string | undefined } | undefined

  /** Why the hub is stale, so that messages it lacks mean nothing; undefined: it is up to date. */
  async function staleness(now: number): Promise<string | undefined> {
    if (looked && now >= looked.at && now - looked.at < freshnessMs) return looked.staleness
    const network = await hub.network()
    const unsaid = network.delaySeconds === undefined ? 'it does not say how old its newest block is' : undefined
    looked = { at: now, staleness: whyStale(network) ?? unsaid }
    return looked.staleness
  }

  return {
    url,
    async testify(fid, now) {
      try {
        const stale = await staleness(now.getTime())
        if (stale) return { kind: 'stale', why: stale }
        const hashes = new Set<string>()
        for (const { address, message } of await hub.verifications(fid)) {
          const read = readHubMessage(message)
          const { verdict } = await judgeVerification(read, { fid, address, now })
          if (verdict === 'forged') return { kind: 'forged', why: `a forged verification of ${address}` }
          const hash = read ? `0x${Buffer.from(read.hash).toString('hex')}` : (message as { hash?: unknown }).hash
          hashes.add(String(hash).toLowerCase())
        }
        return { kind: 'says', hashes }
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error
        return { kind: 'silent', why: error.message }
      }
    },
  }
}
