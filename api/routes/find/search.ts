import { z } from 'zod'
import { type SearchPart, searchAgents, searchParts } from '../../../db/queries/find/search.ts'
import { readingLimits, rowLimits } from '../../../limits.config.ts'
import { objectText } from '../../http/cursor.ts'
import { integerParameter, textParameter } from '../../http/parameters.ts'
import { json, route } from '../../http/route.ts'
import { searchAnswer } from '../../schemas/search.ts'

const parts = Object.keys(searchParts) as SearchPart[]

/** Null: all. Of unknown words alone, none. */
const partsParameter = z
  .unknown()
  .optional()
  .transform((value): SearchPart[] | null => {
    const given = [value].flat().flatMap((text) => (typeof text === 'string' && text !== '' ? text.split(',') : []))
    return given.length === 0 ? null : parts.filter((part) => given.includes(part))
  })
  .meta({
    description:
      'Where to look, separated by commas: name (handle, display name, tag, names of registrations and documents), ' +
      'skill (skills, tools, services), description. Without it, everywhere.',
    override: { type: 'string', examples: [parts.join(',')] },
  })

/** GET /api/search */
export const search = route({
  path: '/api/search',
  operationId: 'searchAgents',
  summary: 'Agents by words, best first.',
  params: z.object({}),
  query: z.object({
    q: textParameter.meta({
      description:
        'Words; “phrases” in quotes, `or`, `-without`. `@ada` is a handle, `FID 4207` a FID, 0x and 40 digits an address.',
    }),
    in: partsParameter,
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
      'Whose handle, FID or address it is exactly comes first; then by where the words are found, names before skills ' +
      'before descriptions; at equal rank the claimed come before the others.',
  },
  errors: [],
  maxAgeSeconds: 30,
  freshSeconds: 10,
  async read({ q, in: wanted, page, limit }, { database }) {
    const isEmpty = q === null || wanted?.length === 0
    const offset = (page - 1) * limit
    const hits = isEmpty
      ? { rows: '[]', count: 0, total: 0 }
      : await searchAgents(database, { q, parts: wanted, limit, offset })
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
