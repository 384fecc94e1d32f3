import { z } from 'zod'
import { documentLimits } from '../../../config/limits.ts'
import { newestAgents } from '../../../db/queries/agents/newest-agents.ts'
import { feedOfAgents, feedPath, feedTitle } from '../../feed/listed.ts'
import { chainsParameter } from '../../http/parameters.ts'
import { route } from '../../http/route.ts'
import { claimedFlags, claimedParameter, noticedChange } from './discovery.ts'

/** GET /feed.atom */
export const feed = route({
  path: '/feed.atom',
  operationId: 'getFeed',
  summary: `The ${documentLimits.feedEntries} newest agents, claimed and auto-detected, or those of a filter, as an Atom 1.0 feed.`,
  query: z.object({ chain: chainsParameter, claimed: claimedParameter }),
  answer: { type: 'application/atom+xml; charset=utf-8', schema: z.string(), description: 'The feed.' },
  maxAgeSeconds: 300,
  freshSeconds: 300,
  revision: noticedChange,
  async read({ chain, claimed }, { database, baseUrl, siteUrl, serviceName, leftOut }) {
    const filter = { chain, claimed: claimedFlags[claimed] }
    const agents = await newestAgents(database, filter, { limit: documentLimits.feedEntries })
    const feedUrl = baseUrl + feedPath(filter)
    const options = { title: `${serviceName}: ${feedTitle(filter)}`, feedUrl, siteUrl }
    return feedOfAgents(agents, options, leftOut)
  },
})
