import { z } from 'zod'
import {
  type DiscoveryFilter,
  type DiscoveryTotal,
  discoveryPage,
  discoverySorts,
  discoveryTotal,
} from '../../db/queries/read/discovery.ts'
import { chainsParameter, flagParameter, integerParameter, textParameter, wordParameter } from '../http/parameters.ts'
import { json, route, type Sources } from '../http/route.ts'
import { discoveryList } from '../schemas/discovery.ts'

/** Pages beyond are cut to it: the offset stays an exact number, and no list is that long. */
const lastPage = 1_000_000
const freshSeconds = 5
/** A total holds until an agent changes; those of former moments are not asked for again. */
const totalFreshSeconds = 60

export const claimedParameter = wordParameter(['all', 'claimed', 'unclaimed'], 'all', 'Claim status.')
/** As the queries take it. */
export const claimedFlags = { all: null, claimed: true, unclaimed: false } as const

export const discoveryQuery = z.object({
  q: textParameter,
  chain: chainsParameter,
  claimed: claimedParameter,
  spec: flagParameter('Whether a machine-readable description of the agent was found.'),
  codehost: flagParameter('Whether the agent is linked to a code host.'),
  sort: wordParameter(discoverySorts, 'newest', 'Order of the list.'),
  page: integerParameter({ minimum: 1, maximum: lastPage, fallback: 1 }, 'From 1.'),
  limit: integerParameter({ minimum: 10, maximum: 100, fallback: 30 }, 'Rows a page.'),
})

/** GET /api/discovery */
export const discovery = route({
  path: '/api/discovery',
  operationId: 'listAgents',
  summary: 'Agents by filter, in pages.',
  params: z.object({}),
  query: discoveryQuery,
  answer: { type: json, schema: discoveryList, description: 'One page.' },
  errors: [],
  tool: {
    name: 'search_agents',
    use: 'Finds agents by name, chain, claim status, documents or code host, in pages. Start here when no fid or address is known.',
  },
  maxAgeSeconds: 30,
  freshSeconds,
  async read({ sort, page, limit, claimed, ...rest }, sources) {
    const filter = { ...rest, claimed: claimedFlags[claimed] }
    const totalAt = (change: number) => countOnce(filter, change, sources)
    const leftOut = (fid: number, cause: unknown) => sources.leftOut('discovery', fid, cause)
    return discoveryPage(sources.database, filter, { sort, page, limit }, { totalAt, leftOut })
  },
})

/** The total of a filter is the same for all its pages and sorts, and until an agent changes: counting is the dearer half. */
async function countOnce(
  filter: DiscoveryFilter,
  change: number,
  { database, totals }: Sources,
): Promise<DiscoveryTotal> {
  const { value } = await totals.get(
    `discovery ${change} ${JSON.stringify(filter)}`,
    totalFreshSeconds * 1_000,
    async () => ({
      ...(await discoveryTotal(database, filter)),
      bytes: 0,
    }),
  )
  return { total: value?.total ?? 0, change: value?.change ?? 0 }
}
