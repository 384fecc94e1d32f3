import type pg from 'pg'
import type { Queryable } from '../../db/pool.ts'
import { lastBelievedTotals, readHubStanding, storeHubStanding } from '../../db/queries/sources/hub-standing.ts'
import { HostClosed } from '../../hosts/host.ts'
import { minute } from '../../ops/time.ts'
import { whyStale } from '../../social/hub-staleness.ts'
import type { Network, SocialIndex } from '../../social/social-index.ts'
import type { Source } from '../schedule/source.ts'

interface BeliefOptions {
  readonly pool: pg.Pool
  readonly social: SocialIndex
  /** HTTP address of the hub. */
  readonly url: string
  readonly now: () => Date
}

/** Largest share by which totals may fall, as they do by pruning. */
const mostLost = 0.1
/** Totals below this are not judged: the network is a private one. */
const fewestJudged = 1_000
/** Milliseconds between attempts of work that waits for the hub to be believed again. */
const waitMs = minute

/**
 * Whether what a hub says may be stored: one that is new, syncing or of another network answers every question without
 * an error and knows nothing, which would end all that is known.
 */
export interface Belief {
  /** Asks the hub about itself and stores the verdict. Returns its answer; undefined: it is not believed. */
  look(db?: Queryable): Promise<Network | undefined>
  /**
   * Makes the hub's present totals those that the next look compares with, because an operator knows that the network
   * really lost the rest. Throws when the hub is behind or syncing, whatever its totals.
   */
  acceptTotals(): Promise<Network>
  /** Why the hub is not believed; undefined: it is, or has not been judged yet. */
  doubt(): Promise<string | undefined>
  /** Wraps a source so that nothing is read or stored while the hub is not believed. */
  guard(source: Source): Source
}

export function createBelief({ pool, social, url, now }: BeliefOptions): Belief {
  async function look(db: Queryable = pool) {
    const network = await social.network()
    const { accounts = null, messages = null } = network
    const doubt = doubtAbout(network, await lastBelievedTotals(db)) ?? null
    await storeHubStanding(db, { url, accounts, messages, doubt, now: now() })
    return doubt === null ? network : undefined
  }

  async function acceptTotals() {
    const network = await social.network()
    const stale = whyStale(network)
    if (stale) throw new Error(`the hub stays unbelieved: ${stale}`)
    const { accounts = null, messages = null } = network
    await storeHubStanding(pool, { url, accounts, messages, doubt: null, now: now() })
    return network
  }

  async function refuse(db: Queryable) {
    const standing = await readHubStanding(db, url)
    if (!standing && (await look())) return
    if (standing?.doubt === null) return
    throw new HostClosed(`the hub is not believed: ${standing?.doubt}`, new Date(now().getTime() + waitMs))
  }

  return {
    look,
    acceptTotals,
    doubt: async () => (await readHubStanding(pool, url))?.doubt ?? undefined,
    guard: (source) => ({
      ...source,
      async read(subjects) {
        await refuse(pool)
        const reading = await source.read(subjects)
        return {
          ...reading,
          async write(db) {
            await refuse(db) // the hub may have lost belief while it answered
            return reading.write(db)
          },
        }
      },
    }),
  }
}

/** Why a hub is not believed; undefined: nothing speaks against it. */
function doubtAbout(
  network: Network,
  before: { readonly accounts: number | null; readonly messages: number | null },
): string | undefined {
  const fall =
    fallen('accounts', before.accounts, network.accounts) ?? fallen('messages', before.messages, network.messages)
  return whyStale(network) ?? (fall && `${fall}; if that is true: npm run enrichment -- --accept-hub-totals`)
}

function fallen(what: string, before: number | null, total: number | undefined): string | undefined {
  if (before === null || before < fewestJudged || total === undefined) return undefined
  return total < before * (1 - mostLost) ? `it knows ${total} ${what}, and ${before} were known before` : undefined
}
