import type pg from 'pg'
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
import { isSharedPlatform, mostAgentsOfSite } from '../shared-platforms.ts'
import { siteOf } from '../site.ts'

interface EdgeOptions {
  readonly pool: pg.Pool
  readonly now: () => Date
  readonly settlementOverloads: 'spec' | 'all'
}

/** Agents whose changes are taken in one transaction; `mostDerived`: agents whose edges are derived in one. */
const mostLookedAt = 500
const mostDerived = 100
/** Age in milliseconds at which edges are re-derived without a known change, in case one was missed. */
const oldestMs = day
/** Sites kept of one agent, at most. */
const mostSites = 20

/** Result of a pass: how many agents it worked on, and how many edges changed. */
interface EdgePass {
  readonly work: number
  readonly moved: number
}

/**
 * One bounded pass over edges: agents that changed, and those around them, become due; when no changes are left, the
 * edges of some due agents are derived. `work` zero: every edge is up to date.
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
    await spreadSites(db, await storeSites(db, fids, sites), mostAgentsOfSite)
    await spreadEdges(db, fids)
    return fids.length
  })
}

function derive({ pool, now, settlementOverloads }: EdgeOptions): Promise<EdgePass> {
  return inTransaction(pool, async (db) => {
    await lockEdges(db)
    const fids = await dueEdges(db, mostDerived)
    if (fids.length === 0) return { work: 0, moved: 0 }
    const moved = await deriveEdges(db, { fids, settlementOverloads, mostOfSite: mostAgentsOfSite })
    await endEdges(db, fids, now())
    return { work: fids.length, moved }
  })
}

/** Registrable domains of an agent's endpoints, without platforms that many accounts share. Sorted, each once. */
export function sitesOf(endpoints: readonly string[]): string[] {
  const sites = endpoints.flatMap((endpoint) => {
    const url = /^https?:\/\//i.test(endpoint) ? URL.parse(endpoint) : null
    if (!url || isSharedPlatform(url)) return []
    return siteOf(url) ?? []
  })
  return [...new Set(sites)].sort().slice(0, mostSites)
}
