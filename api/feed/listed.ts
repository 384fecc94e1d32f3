import type { FeedAgent } from '../../db/queries/read/feed.ts'
import type { Sources } from '../http/route.ts'
import { atomFeed, type FeedOptions } from './atom.ts'
import { toEntry } from './entry.ts'

/** A feed of agents, without those that cannot be written. */
export function feedOfAgents(agents: readonly FeedAgent[], options: FeedOptions, leftOut: Sources['leftOut']): string {
  const written = agents.flatMap((agent) => {
    try {
      const entry = toEntry(agent, options.siteUrl)
      atomFeed([entry], options)
      return entry
    } catch (cause) {
      leftOut('feed', agent.fid, cause)
      return []
    }
  })
  return atomFeed(written, options)
}
