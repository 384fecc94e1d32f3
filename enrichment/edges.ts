import type pg from 'pg'
import { getDomain } from 'tldts'
import { inTransaction } from '../db/pool.ts'
import { deriveEdges, lockEdges, readEndpointsAfter, storeSites } from '../db/queries/agent-edges.ts'
import { isSharedPlatform } from './specs/site.ts'

export interface EdgeOptions {
  readonly pool: pg.Pool
  readonly settlementOverloads: 'spec' | 'all'
}

const agentsPerPage = 100
/** Kept of one agent. */
const mostSites = 20

/** Brings the ties between all agents to what is known, page by page. Returns how many moved. */
export async function refreshEdges({ pool, settlementOverloads }: EdgeOptions): Promise<number> {
  // All sites before any tie: the other end of one may stand on a later page.
  const pages: number[][] = []
  for (let after = 0; ; ) {
    const agents = await readEndpointsAfter(pool, after, agentsPerPage)
    if (agents.length > 0) {
      const fids = agents.map(({ fid }) => fid)
      const sites = agents.flatMap(({ fid, endpoints }) => sitesOf(endpoints).map((site) => ({ fid, site })))
      await inTransaction(pool, async (db) => {
        await lockEdges(db)
        await storeSites(db, fids, sites)
      })
      pages.push(fids)
    }
    if (agents.length < agentsPerPage) break
    after = agents.at(-1)!.fid
  }
  let moved = 0
  for (const fids of pages) {
    moved += await inTransaction(pool, async (db) => {
      await lockEdges(db)
      return deriveEdges(db, { fids, settlementOverloads })
    })
  }
  return moved
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
