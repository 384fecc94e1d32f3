import type pg from 'pg'
import type { Queryable } from '../../db/pool.ts'
import {
  followedHub,
  followHub,
  lastBelievedTotals,
  readHubStanding,
  storeHubStanding,
} from '../../db/queries/sources/hub-standing.ts'
import { HostClosed } from '../../hosts/host.ts'
import { NoAnswer } from '../../hosts/no-answer.ts'
import { minute } from '../../ops/time.ts'
import { type Totals, whyShrunk, whyStale } from '../../social/hub-staleness.ts'
import type { Network } from '../../social/social-index.ts'
import type { Source } from '../schedule/source.ts'
import { whyDisagreeing } from './agreement.ts'
import type { Candidate, Followed } from './followed.ts'

interface BeliefOptions {
  readonly pool: pg.Pool
  readonly followed: Pick<Followed, 'candidates' | 'url' | 'point'>
  readonly now: () => Date
}

/** Looks in a row that the first hub must have been silent at before another one is followed. */
const silentLooks = 2
/** Milliseconds between attempts of work that waits for the hub to be believed again. */
const waitMs = minute

/**
 * Whether what a hub says may be stored: one that is new, syncing or of another network answers every question without
 * an error and knows nothing, which would end all that is known.
 */
export interface Belief {
  /**
   * Asks the hubs about themselves, in their order, up to the first that is believed and whose events agree with what was
   * read: it is followed from now on. Returns its answer; undefined: there is none. Throws NoAnswer when the first hub is
   * silent and no other can be followed; only one that is silent for longer than `failures` of these looks is replaced.
   */
  look(failures?: number): Promise<Network | undefined>
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

export function createBelief(options: BeliefOptions): Belief {
  const { pool, followed, now } = options
  const [first, ...others] = followed.candidates as [Candidate, ...Candidate[]]

  async function look(failures = 0) {
    let silence: unknown
    try {
      const network = await judged(first, options)
      if (network) return network
    } catch (error) {
      const isSilent = first.host.state() === 'broken' || failures >= silentLooks
      if (!isSilent || !(error instanceof NoAnswer || error instanceof HostClosed)) throw error
      silence = error
    }
    for (const candidate of others) {
      const network = await judged(candidate, options).catch(unlessSilent)
      if (network) return network
    }
    if (silence !== undefined) throw silence
    return undefined
  }

  async function acceptTotals() {
    const { url } = first
    const network = await first.clients.urgent.network()
    const stale = whyStale(network)
    if (stale) throw new Error(`the hub stays unbelieved: ${stale}`)
    const { accounts = null, messages = null } = network
    const witness = url !== (await current(pool))
    await storeHubStanding(pool, { url, accounts, messages, doubt: null, witness, now: now() })
    return network
  }

  /** The hub that is followed; another process may have changed it. */
  async function current(db: Queryable): Promise<string> {
    followed.point(await followedHub(db))
    return followed.url()
  }

  async function refuse(db: Queryable) {
    const standing = await readHubStanding(db, await current(db))
    if (!standing && (await look())) return
    if (standing?.doubt === null) return
    throw new HostClosed(`the hub is not believed: ${standing?.doubt}`, new Date(now().getTime() + waitMs))
  }

  return {
    look,
    acceptTotals,
    doubt: async () => (await readHubStanding(pool, await current(pool)))?.doubt ?? undefined,
    guard: (source) => guarded(source, pool, refuse),
  }
}

/** What a hub says of itself when it is believed and agrees, in which case it is followed. */
async function judged(
  { url, clients }: Candidate,
  { pool, followed, now }: BeliefOptions,
): Promise<Network | undefined> {
  const network = await clients.urgent.network()
  const { accounts = null, messages = null } = network
  const doubt =
    doubtAbout(network, await lastBelievedTotals(pool)) ??
    (url === followed.url() ? undefined : await whyDisagreeing(pool, clients.urgent, network, now()))
  const witness = url !== followed.url()
  await storeHubStanding(pool, { url, accounts, messages, doubt: doubt ?? null, witness, now: now() })
  if (doubt !== undefined) return undefined
  await followHub(pool, url, now())
  followed.point(url)
  return network
}

/** A source that asks `refuse` before it reads, and before it stores what it read. */
function guarded(source: Source, pool: pg.Pool, refuse: (db: Queryable) => Promise<void>): Source {
  return {
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
  }
}

function unlessSilent(error: unknown): undefined {
  if (error instanceof NoAnswer || error instanceof HostClosed) return undefined
  throw error
}

/** Why a hub is not believed; undefined: nothing speaks against it. */
function doubtAbout(network: Network, before: Totals): string | undefined {
  const shrunk = whyShrunk(network, before)
  return whyStale(network) ?? (shrunk && `${shrunk}; if that is true: npm run enrichment -- --accept-hub-totals`)
}
