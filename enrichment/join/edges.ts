import type pg from 'pg'
import { getDomain } from 'tldts'
import { inTransaction } from '../../db/pool.ts'
import {
  dueEdges,
  endEdges,
  noteStalest,
  spreadEdges,
  spreadSites,
  takeEdgeEvents,
} from '../../db/queries/join/edge-events.ts'
import { deriveEdges, lockEdges, readEndpoints, storeSites } from '../../db/queries/join/edges.ts'
import { day } from '../../ops/time.ts'
import { isSharedPlatform } from '../specs/site.ts'

interface EdgeOptions {
  readonly pool: pg.Pool
  readonly now: () => Date
  readonly settlementOverloads: 'spec' | 'all'
}

/** Agents looked at in one transaction, and agents derived in one. */
const mostLookedAt = 500
const mostDerived = 100
/** Edges so old are derived again, in case a reason for it was overlooked. */
const oldestMs = day
/** Sites kept of one agent, at most. */
const mostSites = 20

/** What a pass did: how much there was to do, and how many edges moved. */
interface EdgePass {
  readonly work: number
  readonly moved: number
}

/**
 * One bounded pass over edges: agents of which something changed, and those around them, become due; when there are
 * none left, the edges of some that are due are derived. No work: every edge is as it should be.
 */
export async function runEdges(options: EdgeOptions): Promise<EdgePass> {
  const looked = await lookAt(options)
  if (looked > 0) return { work: looked, moved: 0 }
  const derived = await derive(options)
  if (derived.work > 0) return derived
  const before = new Date(options.now().getTime() - oldestMs)
  return { work: await noteStalest(options.pool, { before, limit: mostLookedAt }), moved: 0 }
}

function lookAt({ pool }: EdgeOptions): Promise<number> {
  return inTransaction(pool, async (db) => {
    await lockEdges(db)
    const fids = await takeEdgeEvents(db, mostLookedAt)
    if (fids.length === 0) return 0
    const agents = await readEndpoints(db, fids)
    const sites = agents.flatMap(({ fid, endpoints }) => sitesOf(endpoints).map((site) => ({ fid, site })))
    await spreadSites(db, await storeSites(db, fids, sites))
    await spreadEdges(db, fids)
    return fids.length
  })
}

function derive({ pool, now, settlementOverloads }: EdgeOptions): Promise<EdgePass> {
  return inTransaction(pool, async (db) => {
    await lockEdges(db)
    const fids = await dueEdges(db, mostDerived)
    if (fids.length === 0) return { work: 0, moved: 0 }
    const moved = await deriveEdges(db, { fids, settlementOverloads })
    await endEdges(db, fids, now())
    return { work: fids.length, moved }
  })
}

/** Registrable domains of an agent's endpoints, under which nobody else has a place. */
export function sitesOf(endpoints: readonly string[]): string[] {
  const sites = endpoints.flatMap((endpoint) => {
    const url = /^https?:\/\//i.test(endpoint) ? URL.parse(endpoint) : null
    if (!url || isSharedPlatform(url)) return []
    return getDomain(url.hostname, { allowPrivateDomains: true }) ?? []
  })
  return [...new Set(sites)].sort().slice(0, mostSites)
}
