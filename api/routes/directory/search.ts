import { z } from 'zod'
import { readingLimits, rowLimits } from '../../../config/limits.ts'
import type { DiscoveryFilter } from '../../../db/queries/directory/discovery-filter.ts'
import { type SearchPart, searchAgents, searchParts } from '../../../db/queries/directory/search.ts'
import { objectText } from '../../http/cursor.ts'
import { askable } from '../../http/filter-parameters.ts'
import { integerParameter, textParameter } from '../../http/parameters.ts'
import { json, route } from '../../http/route.ts'
import { searchAnswer } from '../../schemas/directory/search.ts'
import { claimedFlags, facetFilters } from './discovery.ts'

const parts = Object.keys(searchParts) as SearchPart[]

/** Parts of an agent to search. Null, when none is given: all; unknown names are dropped, which may leave none. */
const partsParameter = z
  .unknown()
  .optional()
  .transform((value): SearchPart[] | null => {
    const [text] = [value].flat()
    if (typeof text !== 'string' || text === '') return null
    const given = text.split(',')
    return parts.filter((part) => given.includes(part))
  })
  .meta({
    description:
      'Where to look, separated by commas: name (handle, display name, tag, names of registrations and documents), ' +
      'skill (skills, tools, services, and tags of any), description (of registrations, and the bio). Without it, everywhere.',
    override: { type: 'string', examples: [parts.join(',')] },
  })

/** GET /api/search */
export const search = route({
  path: '/api/search',
  operationId: 'searchAgents',
  summary: 'Agents by words, best first.',
  query: z.object({
    q: textParameter.meta({
      description:
        'Words; “phrases” in quotes, `or`, `-without`. `@ada` is a handle, `FID 4207` a FID, 0x and 40 digits ' +
        'an address, 0x and 64 a transaction, `base 123` a registration.',
    }),
    in: partsParameter,
    ...facetFilters,
    page: integerParameter(
      { minimum: 1, maximum: readingLimits.hits, fallback: 1 },
      `From 1; there are ${readingLimits.hits} hits at most.`,
    ),
    limit: integerParameter(rowLimits.search, 'Rows a page.'),
  }),
  answer: {
    type: json,
    schema: searchAnswer,
    description:
      'Whose handle, FID, address or registration it is exactly, or who was paid in the transaction, comes first; then by ' +
      'where the words are found, names before skills before descriptions before what the account says of itself; at equal rank the claimed come before ' +
      'the others. A word is found in its plural and its singular, and where nobody says it whole, in words that begin so. A transaction is not found once its settlements are archived: they are in the files under /exports.',
  },
  maxAgeSeconds: 30,
  freshSeconds: 10,
  async read({ q, in: wanted, page, limit, claimed, ...given }, { database }) {
    const filter = askable({ ...given, claimed: claimedFlags[claimed] })
    const isEmpty = q === null || wanted?.length === 0 || !filter
    const offset = (page - 1) * limit
    const hits = isEmpty
      ? { rows: '[]', count: 0, total: 0 }
      : await searchAgents(database, { q, parts: wanted, filter: filter as DiscoveryFilter, limit, offset })
    return objectText({
      q: JSON.stringify(q),
      total: `${hits.total}`,
      limit: `${limit}`,
      page: `${page}`,
      count: `${hits.count}`,
      agents: hits.rows,
    })
  },
})
