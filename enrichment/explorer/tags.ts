import type { StoredTag } from '../../db/queries/sources/oli-tags.ts'
import { cleanText } from '../upstream.ts'

/** Longest texts of a tag, in code points. */
export const longestOfTag = { name: 200, slug: 200, type: 50 }
/** Most tags kept per address; of more, the first ones. */
const mostTagsAnAddress = 100
const longestMeta = 4_096 // characters of JSON
const deepestMeta = 8
const largestOrdinal = 2_147_483_647 // of an int column

export interface RawTag {
  readonly chain: string | null
  readonly slug: string
  readonly name: string
  readonly tagType: string
  readonly ordinal: number | null | undefined
  readonly meta: Readonly<Record<string, unknown>> | string | null | undefined
  readonly attester: string | null
}

/** Tags of an address as they are stored; those without a name or slug are none. */
export function toTags(address: string, raw: readonly RawTag[]): StoredTag[] {
  return raw.slice(0, mostTagsAnAddress).flatMap((tag): StoredTag[] => {
    const name = cleanText(tag.name, longestOfTag.name)
    const slug = cleanText(tag.slug, longestOfTag.slug)
    const tagType = cleanText(tag.tagType, longestOfTag.type)
    if (name === null || slug === null || tagType === null) return []
    const { chain, attester } = tag
    return [{ address, chain, slug, name, tagType, ordinal: ordinalOf(tag.ordinal), meta: metaOf(tag.meta), attester }]
  })
}

function ordinalOf(ordinal: RawTag['ordinal']): number | null {
  return Number.isInteger(ordinal) && Math.abs(ordinal as number) <= largestOrdinal ? (ordinal as number) : null
}

/** Metadata of a tag: the metadata service sends it as JSON in a string, the explorer's other API as an object. */
function metaOf(meta: RawTag['meta']): StoredTag['meta'] {
  const value = typeof meta === 'string' ? parsed(meta) : meta
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const clean = cleanValue(value, 0) as Record<string, unknown>
  return JSON.stringify(clean).length > longestMeta ? null : clean
}

function parsed(text: string): unknown {
  if (text.length > longestMeta) return null
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function cleanValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cleanText(value, longestMeta)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= deepestMeta) return null
  if (Array.isArray(value)) return value.map((one) => cleanValue(one, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [cleanText(name, longestOfTag.name) ?? '', cleanValue(one, depth + 1)]),
  )
}
