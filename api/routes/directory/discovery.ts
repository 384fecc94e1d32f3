import { z } from 'zod'
import { queryLimits, rowLimits } from '../../../config/limits.ts'
import { newestChange } from '../../../db/queries/agents/newest-agents.ts'
import {
  type DiscoveryTotal,
  discoveryGroups,
  discoveryPage,
  discoverySorts,
  discoveryTotal,
  groupTotal,
  isGrouped,
} from '../../../db/queries/directory/discovery.ts'
import type { DiscoveryFilter } from '../../../db/queries/directory/discovery-filter.ts'
import { documentKinds } from '../../../db/queries/sources/agent-specs.ts'
import { cursorParameter, objectText, pagedBody, readCursor } from '../../http/cursor.ts'
import { askable, countFilter, flagFilter, namesFilter, timeFilter, wordsFilter } from '../../http/filter-parameters.ts'
import {
  chainsParameter,
  fieldsParameter,
  flagParameter,
  integerParameter,
  textParameter,
  wordParameter,
} from '../../http/parameters.ts'
import { json, route, type Sources, type Total } from '../../http/route.ts'
import { discoveryList, discoverySelection } from '../../schemas/directory/discovery.ts'
import { leanFields } from '../../schemas/directory/lean-row.ts'

const freshSeconds = 5
/** Cache lifetime of a total. Its key has the number of the newest change, so an outdated total is never read. */
const totalFreshSeconds = 60

export const claimedParameter = wordParameter(['all', 'claimed', 'unclaimed'], 'all', 'Claim status.')
/** The filter of claim status as the statements take it. */
export const claimedFlags = { all: null, claimed: true, unclaimed: false } as const

export const discoveryQuery = z.object({
  q: textParameter,
  chain: chainsParameter,
  claimed: claimedParameter,
  spec: flagParameter('Whether a machine-readable description of the agent was found.'),
  codehost: flagParameter('Whether the agent is linked to a code host.'),
  sort: wordParameter(
    discoverySorts,
    'newest',
    'Order of the list. `most-earned`: by income of every kind in 30 days, then ever, without what agents paid themselves.',
  ),
  page: integerParameter({ minimum: 1, maximum: queryLimits.lastPage, fallback: 1 }, 'From 1.'),
  limit: integerParameter(rowLimits.discovery, 'Rows a page.'),
})

/** Filters by which /api/discovery/facets also counts agents. */
export const facetFilters = {
  chain: discoveryQuery.shape.chain,
  claimed: claimedParameter,
  spec: discoveryQuery.shape.spec,
  codehost: discoveryQuery.shape.codehost,
  protocol: wordsFilter(
    documentKinds,
    'Kinds of descriptions found on the agent’s hosts; `web`: a page that a registration names, and that was there.',
  ),
  skill: namesFilter('Skill that such a description names, or a registration declares, in any case.'),
  sells: namesFilter('Name or tag of a service that its x402 documents or 402 answers say it sells, in any case.'),
  alive: flagFilter('Whether one of them answered when it was checked last.'),
  paid_30d: flagFilter('Whether the agent was paid in the last 30 days.'),
}

/** Values of a cursor in each order. A sum of dollars has more digits than a count. */
const orders = {
  newest: ['time', 'integer'],
  oldest: ['time', 'integer'],
  'cross-chain': ['integer', 'integer', 'integer'],
  'most-active': ['integer', 'integer', 'integer'],
  'most-earned': ['token', 'token', 'integer'],
} as const
const path = '/api/discovery'

/** GET /api/discovery */
export const discovery = route({
  path,
  operationId: 'listAgents',
  summary: 'Agents by filter, in pages.',
  query: discoveryQuery.extend({
    status: wordsFilter(['active', 'historical', 'claimed-only'], 'Status of the agent.'),
    method: wordsFilter(['eip191', 'jfs', 'well-known'], 'How the agent was claimed last.'),
    tag: namesFilter('Slug or name of a tag on an address the agent verifies, in any case.'),
    has_settlements: flagFilter('Whether the agent was ever paid.'),
    min_settlements: countFilter('Settlements since the first block, at least.'),
    registered_since: timeFilter('`registered_at`: ISO 8601 with a zone, inclusive.'),
    registered_until: timeFilter('`registered_at`: ISO 8601 with a zone, exclusive.'),
    seen_since: timeFilter('`last_seen_at`: ISO 8601 with a zone, inclusive.'),
    protocol: facetFilters.protocol,
    skill: facetFilters.skill,
    sells: facetFilters.sells,
    alive: facetFilters.alive,
    paid_30d: facetFilters.paid_30d,
    trust: namesFilter('Trust model that a registration it holds names, in any case.'),
    active: flagFilter('Whether a registration it holds says that it is active.'),
    x402: flagFilter('Whether a registration it holds says that x402 payments are taken.'),
    min_feedback: countFilter('Feedback on a registration it holds that was not revoked, at least.'),
    cursor: cursorParameter,
    fields: fieldsParameter(Object.keys(leanFields)),
  }),
  answer: {
    type: json,
    schema: z.union([discoveryList, discoverySelection]),
    description:
      'One page. With `cursor`, `page` and `offset` are null and `next_cursor` says where to go on: by `newest` and ' +
      '`oldest` a walk meets every agent that stays; the figures of the other orders move under it.',
  },
  errors: ['ERR_NOT_FOUND'],
  tool: {
    name: 'search_agents',
    untold: [
      'page',
      'has_settlements',
      'codehost',
      'seen_since',
      'status',
      'registered_since',
      'registered_until',
      'tag',
      'method',
      'min_settlements',
      'paid_30d',
      'skill',
      'sells',
      'protocol',
      'alive',
      'trust',
      'active',
      'x402',
      'min_feedback',
    ],
    use: 'Finds agents by name, chain, claim status, documents or code host, in pages. Start here when no fid or address is known.',
  },
  maxAgeSeconds: 30,
  freshSeconds,
  async read({ sort, page, limit, claimed, cursor, fields = null, ...given }, sources) {
    const list = { name: [path, sort, claimed, given], order: orders[sort] }
    const after = readCursor(list, cursor) ?? null
    const asked = askable({ ...given, claimed: claimedFlags[claimed] })
    const offset = (page - 1) * limit
    const from = cursor === undefined ? { offset } : { after }
    const totalAt = (change: number) => countOnce(asked as DiscoveryFilter, change, sources)
    const early = async () => totalAt(await noticedChange(sources))
    const leftOut = (fid: number, cause: unknown) => sources.leftOut('discovery', fid, cause)
    const found = asked
      ? await discoveryPage(sources.database, asked, { sort, limit, from, fields }, { early, totalAt, leftOut })
      : { rows: '[]', count: 0, total: 0, next: null }
    const body = {
      agents: found.rows,
      total: `${found.total}`,
      limit: `${limit}`,
      offset: cursor === undefined ? `${offset}` : 'null',
      page: cursor === undefined ? `${page}` : 'null',
      count: `${found.count}`,
    }
    if (cursor === undefined) return objectText(body)
    const query = { ...given, claimed, sort, limit, fields: fields?.join(',') }
    return pagedBody(list, found, { fields: body, url: `${sources.baseUrl}${path}`, query })
  },
})

/** How long `noticedChange` caches its number, milliseconds. */
const noticeMs = 5_000

/** Number of the newest change of any agent, up to `noticeMs` old. */
export async function noticedChange({ database, totals }: Sources): Promise<number> {
  const count = async () => ({ total: await newestChange(database), bytes: 0 })
  return (await totals.get('newest change', noticeMs, count)).value?.total ?? 0
}

/**
 * Total of a filter, cached for all its pages and sorts until an agent changes, as counting is the expensive half. For
 * the common filters one grouped count, cached by `q`, serves all of their combinations.
 */
async function countOnce(filter: DiscoveryFilter, change: number, sources: Sources): Promise<DiscoveryTotal> {
  const { database } = sources
  if (!isGrouped(filter)) {
    return kept(`discovery ${change} ${JSON.stringify(filter)}`, sources, () => discoveryTotal(database, filter))
  }
  const { q } = filter
  const counted = await kept(`groups ${change} ${JSON.stringify(q)}`, sources, async () => {
    return { total: 0, ...(await discoveryGroups(database, q)) }
  })
  return { change: counted.change, total: await groupTotal(database, counted.groups ?? '[]', filter) }
}

async function kept(key: string, { totals }: Sources, count: () => Promise<Omit<Total, 'bytes'>>) {
  const { value } = await totals.get(key, totalFreshSeconds * 1_000, async () => {
    const counted = await count()
    return { ...counted, bytes: counted.groups?.length ?? 0 }
  })
  return { total: 0, change: 0, ...value }
}
