import { z } from 'zod'
import { documentLimits, queryLimits } from '../../../config/limits.ts'
import { countAgents, delistedAgents, newestAgents } from '../../../db/queries/agents/newest-agents.ts'
import { day } from '../../../ops/time.ts'
import { feedOfAgents, feedPath, feedTitle } from '../../feed/listed.ts'
import { chainsParameter, integerParameter } from '../../http/parameters.ts'
import { route } from '../../http/route.ts'
import { claimedFlags, claimedParameter, noticedChange } from './discovery.ts'

const path = '/feed/agents.atom'
const { feedPageEntries, tombstoneDays, tombstones } = documentLimits

/** GET /feed/agents.atom */
export const agentsFeed = route({
  path,
  operationId: 'getAgentsFeed',
  summary: 'All agents, or those of a filter, newest first, as an Atom feed in pages.',
  query: z.object({
    chain: chainsParameter,
    claimed: claimedParameter,
    page: integerParameter({ minimum: 1, maximum: queryLimits.lastPage, fallback: 1 }, 'From 1.'),
  }),
  answer: {
    type: 'application/atom+xml; charset=utf-8',
    schema: z.string(),
    description:
      `${feedPageEntries} entries a page, with links first, previous, next and last (RFC 5005). The first page names the ` +
      `agents that left the index within ${tombstoneDays} days (RFC 6721), whatever the filter.`,
  },
  errors: ['ERR_NOT_FOUND'],
  maxAgeSeconds: 300,
  freshSeconds: 300,
  missing: 'the feed has no such page',
  async read({ chain, claimed, page }, { database, baseUrl, siteUrl, serviceName, now, leftOut }) {
    const filter = { chain, claimed: claimedFlags[claimed] }
    const total = await countAgents(database, filter)
    const last = Math.max(1, Math.ceil(total / feedPageEntries))
    if (page > last) return undefined
    const offset = (page - 1) * feedPageEntries
    const agents = await newestAgents(database, filter, { limit: feedPageEntries, offset })
    const since = new Date(now() - tombstoneDays * day)
    const gone = page === 1 ? await delistedAgents(database, { since, limit: tombstones }) : []
    const id = baseUrl + feedPath(filter, path)
    const urlOf = (number: number) => (number === 1 ? id : `${id}${id.includes('?') ? '&' : '?'}page=${number}`)
    const pages = {
      first: urlOf(1),
      ...(page > 1 && { previous: urlOf(page - 1) }),
      ...(page < last && { next: urlOf(page + 1) }),
      last: urlOf(last),
    }
    const title = `${serviceName}: ${feedTitle(filter)}`
    const deleted = gone.map(({ fid, delisted_at: when }) => ({ id: `${siteUrl}/agent/${fid}`, when }))
    return feedOfAgents(agents, { title, id, feedUrl: urlOf(page), siteUrl, pages, tombstones: deleted }, leftOut)
  },
})

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
