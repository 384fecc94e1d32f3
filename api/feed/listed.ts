import type { FeedAgent } from '../../db/queries/agents/newest-agents.ts'
import type { Sources } from '../http/route.ts'
import { type Entry, toEntry } from './agent-entry.ts'
import { atomFeed, type FeedOptions } from './atom.ts'

/** A feed of agents, without those that cannot be written, which `leftOut` is called with. */
export function feedOfAgents(agents: readonly FeedAgent[], options: FeedOptions, leftOut: Sources['leftOut']): string {
  const rows = agents.map((agent) => ({ fid: agent.fid, entry: () => toEntry(agent, options.siteUrl) }))
  return writtenFeed(rows, options, leftOut)
}

/** A feed of entries about agents, without those that cannot be written, which `leftOut` is called with. */
export function writtenFeed(
  rows: readonly { readonly fid: number; readonly entry: () => Entry }[],
  options: FeedOptions,
  leftOut: Sources['leftOut'],
): string {
  const written = rows.flatMap(({ fid, entry: make }) => {
    try {
      const entry = make()
      atomFeed([entry], options)
      return entry
    } catch (cause) {
      leftOut('feed', fid, cause)
      return []
    }
  })
  return atomFeed(written, options)
}
