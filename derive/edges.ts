import type pg from 'pg'
import { isSharedPlatform, mostAgentsOfSite, siteOf } from '../config/platforms.ts'
import type { LaterKey } from '../db/queries/due/queue.ts'
import { spreadEdges, spreadSites } from '../db/queries/edges/edge-neighbours.ts'
import { deriveEdgesOf, lockEdges, readEndpoints, storeSites } from '../db/queries/edges/edges.ts'
import { day } from '../ops/time.ts'
import type { DeriveContext } from './derivation.ts'

/** Milliseconds after which agents are looked at again without a known change, in case one was missed. */
const oldestMs = day
/** Sites kept of one agent, at most. */
const mostSites = 20

/** Makes edges due of agents that changed, and of those around them whose edges may be others now. */
export async function lookAround(
  db: pg.PoolClient,
  keys: readonly string[],
  { now }: DeriveContext,
): Promise<readonly LaterKey[]> {
  const fids = keys.map(Number)
  await lockEdges(db)
  const agents = await readEndpoints(db, fids)
  const sites = agents.flatMap(({ fid, endpoints }) => sitesOf(endpoints).map((site) => ({ fid, site })))
  await spreadSites(db, await storeSites(db, fids, sites), mostAgentsOfSite)
  await spreadEdges(db, fids)
  const dueAt = new Date(now().getTime() + oldestMs)
  return agents.map(({ fid }) => ({ key: fid, dueAt }))
}

export async function deriveEdges(
  db: pg.PoolClient,
  keys: readonly string[],
  { settlementOverloads }: DeriveContext,
): Promise<undefined> {
  await lockEdges(db)
  await deriveEdgesOf(db, { fids: keys.map(Number), settlementOverloads, mostOfSite: mostAgentsOfSite })
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
