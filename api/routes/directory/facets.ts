import { z } from 'zod'
import type { DiscoveryFilter } from '../../../db/queries/directory/discovery-filter.ts'
import { discoveryFacets } from '../../../db/queries/directory/facets.ts'
import { askable } from '../../http/filter-parameters.ts'
import { textParameter, wordParameter } from '../../http/parameters.ts'
import { json, route } from '../../http/route.ts'
import { facetsAnswer } from '../../schemas/directory/search.ts'
import { claimedFlags, facetFilters } from './discovery.ts'

const empty = { chain: [], claimed: [], protocol: [], skill: [], sells: [], alive: [], paid_30d: [] }
const nothing = { counted: 0, complete: true, ...empty }

/** GET /api/discovery/facets */
export const facets = route({
  path: '/api/discovery/facets',
  operationId: 'countFacets',
  summary: 'How many agents each value of a filter of the list would leave.',
  query: z.object({
    q: textParameter,
    ...facetFilters,
    of: wordParameter(['discovery', 'search'], 'discovery', 'Whether `q` finds what it finds there or in a search.'),
  }),
  answer: {
    type: json,
    schema: facetsAnswer,
    description: 'Each filter is counted with all others applied, and without itself.',
  },
  maxAgeSeconds: 60,
  freshSeconds: 30,
  async read({ claimed, of, ...given }, { database }) {
    const asked = askable({ ...given, claimed: claimedFlags[claimed] })
    return asked ? discoveryFacets(database, asked as DiscoveryFilter, of === 'search') : JSON.stringify(nothing)
  },
})
