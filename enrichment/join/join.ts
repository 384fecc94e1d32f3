import type pg from 'pg'
import { inTransaction } from '../../db/pool.ts'
import type { AgentChange } from '../../db/queries/join/agents.ts'
import {
  countEvents,
  deferFirstAgent,
  lockJoin,
  routeHolders,
  routeRegistrations,
  takeAgents,
  unknownHolders,
} from '../../db/queries/join/events.ts'
import { deriveWithFollowUp, fidsOf } from '../../db/queries/join/follow-up.ts'
import { refreshCountsOf } from '../../db/queries/rollup/refresh-counts.ts'
import { askForDocuments } from '../../db/queries/sources/registration-documents.ts'
import { addSubjects } from '../../db/queries/sources/source-state.ts'
import { sources } from '../../sources.config.ts'

export interface JoinOptions {
  readonly pool: pg.Pool
  readonly now: () => Date
  readonly settlementOverloads: 'spec' | 'all'
  /** Whether holders that no known FID verifies can be looked up by address. */
  readonly lookups: boolean
  /** Names of the sources that are asked about every agent. Default: none. */
  readonly perAgent?: readonly string[]
}

/** Most events taken in one transaction; `mostAgents`: most agents derived in one. */
const mostEvents = 1_000
const mostAgents = 100

/**
 * One bounded pass of the join: events of addresses and registrations make agents due, and these are derived. Events
 * are deleted in the transaction that handles them. Returns how much there was to do; zero: nothing waits.
 *
 * Throws Underivable when an agent cannot be derived, after the others of its page have been.
 */
export async function runJoin(options: JoinOptions): Promise<number> {
  const { holders, tokens, agents } = await countEvents(options.pool)
  if (holders + tokens + agents === 0) return 0
  const routed = await route(options)
  const { taken, changes, failure } = await derive(options)
  // At once: until the next round over all agents a new one would be shown without its settlements.
  await refreshCountsOf(fidsOf(changes, 'listed'), options)
  if (failure) throw failure
  return routed + taken
}

function route({ pool, now, lookups }: JoinOptions): Promise<number> {
  return inTransaction(pool, async (db) => {
    await lockJoin(db)
    const addresses = await routeHolders(db, mostEvents)
    const registrations = await routeRegistrations(db, mostEvents)
    if (lookups && addresses.length > 0) {
      const subjects = (await unknownHolders(db, addresses)).map((address) => `address:${address}`)
      await addSubjects(db, sources.lookup.name, subjects, { priority: 2, dueAt: now() })
    }
    if (registrations.length > 0) await askForDocuments(db, registrations, now())
    return addresses.length + registrations.length
  })
}

/** An agent's derivation failed; it is retried after all other agents. */
export class Underivable extends Error {
  override readonly name = 'Underivable'
}

interface Derived {
  readonly taken: number
  readonly changes: readonly AgentChange[]
  readonly failure?: Error
}

async function derive(options: JoinOptions): Promise<Derived> {
  try {
    return await derivePage(options, mostAgents)
  } catch {
    return deriveOneByOne(options)
  }
}

/** Derives the agents of a page one by one, after it failed as a whole, so that one failure does not stop others. */
async function deriveOneByOne(options: JoinOptions): Promise<Derived> {
  const changes: AgentChange[] = []
  let taken = 0
  let failure: Error | undefined
  const deferred = new Set<number | undefined>()
  for (let count = 0; count < mostAgents; count++) {
    try {
      const one = await derivePage(options, 1)
      if (one.taken === 0) break
      taken += one.taken
      changes.push(...one.changes)
    } catch (cause) {
      const fid = await deferFirstAgent(options.pool)
      if (deferred.has(fid)) break
      deferred.add(fid)
      failure ??= new Underivable(`fid ${fid} cannot be derived: ${(cause as Error).message}`, { cause })
    }
  }
  return { taken, changes, failure }
}

function derivePage({ pool, now, perAgent = [] }: JoinOptions, limit: number): Promise<Derived> {
  return inTransaction(pool, async (db) => {
    await lockJoin(db)
    const fids = await takeAgents(db, limit)
    if (fids.length === 0) return { taken: 0, changes: [] }
    const changes = await deriveWithFollowUp(db, { fids, perAgent, now: now() })
    return { taken: fids.length, changes }
  })
}
