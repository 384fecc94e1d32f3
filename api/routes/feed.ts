import { z } from 'zod'
import { newestAgents, newestChange } from '../../db/queries/feed.ts'
import { atomFeed } from '../feed/atom.ts'
import { toEntry } from '../feed/entry.ts'
import { route } from '../route.ts'

const entries = 30
/** How soon a change of any agent leads to a new document, in milliseconds. */
const noticeMs = 5_000

/** GET /feed.atom */
export const feed = route({
  path: '/feed.atom',
  operationId: 'getFeed',
  summary: 'The 30 newest agents, claimed and auto-detected, as an Atom 1.0 feed.',
  params: z.object({}),
  query: z.object({}),
  answer: { type: 'application/atom+xml; charset=utf-8', schema: z.string(), description: 'The feed.' },
  errors: [],
  maxAgeSeconds: 300,
  freshSeconds: 300,
  async revision({ database, totals }) {
    const count = async () => ({ total: await newestChange(database), bytes: 0 })
    return (await totals.get('newest change', noticeMs, count)).value?.total ?? 0
  },
  async read(_input, { database, baseUrl, siteUrl, serviceName }) {
    const agents = await newestAgents(database, entries)
    const options = { title: `${serviceName}: newest agents`, feedUrl: `${baseUrl}/feed.atom`, siteUrl }
    return atomFeed(
      agents.map((agent) => toEntry(agent, siteUrl)),
      options,
    )
  },
})
