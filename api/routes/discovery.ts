import { z } from 'zod'
import { type DiscoveryFilter, discoveryPage, discoverySorts, discoveryTotal } from '../../db/queries/read/discovery.ts'
import { chainsParameter, flagParameter, integerParameter, textParameter, wordParameter } from '../http/parameters.ts'
import { json, route, type Sources } from '../http/route.ts'
import { discoveryList } from '../schemas/discovery.ts'

/** Pages beyond are cut to it: the offset stays an exact number, and no list is that long. */
const lastPage = 1_000_000
/** Page and total are both this old at most, so that they agree. */
const freshSeconds = 5

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
  maxAgeSeconds: 30,
  freshSeconds,
  async read({ sort, page, limit, claimed, ...rest }, { database, totals }) {
    const filter = { ...rest, claimed: claimedFlags[claimed] }
    const total = countOnce(filter, database, totals)
    return discoveryPage(database, filter, { sort, page, limit, total })
  },
})

/** The total of a filter is the same for all its pages and sorts: counting is the dearer half. */
async function countOnce(
  filter: DiscoveryFilter,
  database: Sources['database'],
  totals: Sources['totals'],
): Promise<number> {
  const { value } = await totals.get(`discovery ${JSON.stringify(filter)}`, freshSeconds * 1_000, async () => ({
    total: await discoveryTotal(database, filter),
    bytes: 0,
  }))
  return value?.total ?? 0
}
