import { chainOf } from '../../config/chains.ts'
import type { FeedAgent, FeedFilter } from '../../db/queries/agents/newest-agents.ts'
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

/** Path of a filtered feed, always the same for the same filter, because it is the feed's id as well. */
export function feedPath({ chain, claimed }: FeedFilter, path = '/feed.atom'): string {
  // A filter that matches nothing is not the same as none.
  const labels = chain?.length === 0 ? ['none'] : (chain ?? []).map((name) => chainOf(name).label)
  const query = new URLSearchParams(labels.map((label): [string, string] => ['chain', label]))
  if (claimed !== null) query.set('claimed', claimed ? 'claimed' : 'unclaimed')
  return query.size === 0 ? path : `${path}?${query}`
}

/** Title of a filtered feed: newest agents, newest claimed agents on Base or Celo. */
export function feedTitle({ chain, claimed }: FeedFilter): string {
  const which = claimed === null ? '' : claimed ? 'claimed ' : 'unclaimed '
  const where = chain === null ? '' : ` on ${chain.map((name) => chainOf(name).label).join(' or ') || 'no chain'}`
  return `newest ${which}agents${where}`
}
