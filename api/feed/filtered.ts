import { chainOf } from '../../chains.config.ts'
import type { FeedFilter } from '../../db/queries/agents/newest-agents.ts'

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
