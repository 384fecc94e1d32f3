import { z } from 'zod'
import { grouped, readingLimits, rowLimits } from '../../../config/limits.ts'
import { chainName, count } from '../scalars.ts'
import { leanFields } from './lean-row.ts'

const fields = [
  'fid',
  'address',
  'transaction',
  'registration',
  'handle',
  'display_name',
  'tag',
  'name',
  'skill',
  'tool',
  'service',
  'detail',
  'description',
  'bio',
] as const

const found = z
  .strictObject({
    ...leanFields,
    matched: z
      .array(z.strictObject({ field: z.enum(fields), snippet: z.string() }))
      .meta({ description: 'Where it was found, the first places. Texts of strangers: names and words of documents.' }),
    chain_names: z.array(chainName).meta({ description: '`chains` by the names that rows have.' }),
  })
  .meta({ id: 'FoundAgent' })

export const searchAnswer = z
  .strictObject({
    q: z.string().nullable().meta({ description: 'As it was understood; null: nothing was asked.' }),
    total: count.max(readingLimits.hits).meta({ description: 'Hits there are pages of; so many may stand for more.' }),
    limit: z.int().min(rowLimits.search.minimum).max(rowLimits.search.maximum),
    page: z.int().positive(),
    count,
    agents: z.array(found).max(rowLimits.search.maximum),
  })
  .meta({ id: 'SearchAnswer' })

const facet = z
  .array(z.strictObject({ value: z.string(), count }))
  .meta({ id: 'Facet', description: 'Values as the filter takes them, and how many agents each would leave.' })

export const facetsAnswer = z
  .strictObject({
    counted: count.max(2 * readingLimits.facetAgents).meta({
      description: 'Agents that fit every filter, and those that all but one of the filters leave.',
    }),
    complete: z.boolean().meta({
      description: `Whether all of them were counted; otherwise of either the ${grouped(readingLimits.facetAgents)} listed last, or fewer.`,
    }),
    chain: facet,
    claimed: facet,
    protocol: facet,
    skill: facet.meta({ description: 'The most frequent. Words of strangers.' }),
    sells: facet.meta({ description: 'The most frequent names and tags of what is sold. Words of strangers.' }),
    alive: facet,
    paid_30d: facet,
  })
  .meta({ id: 'Facets' })
