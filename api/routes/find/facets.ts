import { z } from 'zod'
import type { DiscoveryFilter } from '../../../db/queries/find/discovery-filter.ts'
import { discoveryFacets } from '../../../db/queries/find/facets.ts'
import { askable } from '../../http/filter-parameters.ts'
import { textParameter } from '../../http/parameters.ts'
import { json, route } from '../../http/route.ts'
import { facetsAnswer } from '../../schemas/search.ts'
import { claimedFlags, facetFilters } from '../discovery.ts'

const nothing = { counted: 0, complete: true, chain: [], claimed: [], protocol: [], skill: [], alive: [], paid_30d: [] }

/** GET /api/discovery/facets */
export const facets = route({
  path: '/api/discovery/facets',
  operationId: 'countFacets',
  summary: 'How many agents each value of a filter of the list would leave.',
  params: z.object({}),
  query: z.object({ q: textParameter, ...facetFilters }),
  answer: {
    type: json,
    schema: facetsAnswer,
    description: 'Each filter is counted with all others applied, and without itself.',
  },
  errors: [],
  maxAgeSeconds: 60,
  freshSeconds: 30,
  async read({ claimed, ...given }, { database }) {
    const asked = askable({ ...given, claimed: claimedFlags[claimed] })
    return asked ? discoveryFacets(database, asked as DiscoveryFilter) : JSON.stringify(nothing)
  },
})
