import { shortText } from './content.ts'
import { fieldsOf, membersOf } from './offers/spellings.ts'

/** A card that a catalog names, at an address or in the catalog itself. */
export interface CatalogCard {
  /** undefined: its media type does not say; whichever reader takes it. */
  readonly kind: 'a2a' | 'mcp' | undefined
  /** Where it lies; for one in the catalog, the catalog's address with its identifier. */
  readonly url: URL
  /** The card in the catalog itself; undefined: it lies elsewhere. */
  readonly data?: object
}

interface Catalog {
  readonly cards: readonly CatalogCard[]
  /** Addresses of further catalogs. */
  readonly catalogs: readonly URL[]
  /** How many entries it has, where not all are looked at. */
  readonly cut?: number
}

/** Most cards of a catalog that are read, inner ones included; entries of one that are looked at; catalogs within catalogs. */
export const mostCards = 20
const mostEntries = mostCards
const deepest = 4

/** What a media type means, the next spelling being a row. */
const mediaTypes = [
  [/catalog\+json$/, 'catalog'],
  [/mcp/, 'mcp'],
  [/a2a|agent-?card/, 'a2a'],
  [/^(application|text)\/(.+\+)?json$/, undefined],
] as const

/**
 * The cards that a host's catalog names, inner catalogs included where they stand in it. Undefined: not a catalog.
 * `place`: where in the outer ones it stands.
 *
 * Source: AI Catalog 0.9 and its drafts, which call the media type `mediaType` and the list `items`; Model Context
 * Protocol, experimental-ext-server-card, discovery (July 2026).
 */
export function toCatalog(value: unknown, catalogUrl: URL, place: readonly number[] = []): Catalog | undefined {
  const entries = membersOf(value).get('entries')
  if (!Array.isArray(entries) || fieldsOf(value).x402Version !== undefined) return undefined
  const cards: CatalogCard[] = []
  const catalogs: URL[] = []
  for (const [index, entry] of entries.slice(0, mostEntries).entries()) {
    const here = [...place, index]
    const members = membersOf(entry)
    const [media] = (shortText(members.get('mediaType')) ?? 'application/json').toLowerCase().split(';')
    const kind = mediaTypes.find(([form]) => form.test(media!.trim()))
    const address = members.get('place')
    const at = typeof address === 'string' ? URL.parse(address, catalogUrl.href) : null
    const data = members.get('data')
    const isInline = typeof data === 'object' && data !== null
    if (!kind || !(at || isInline)) continue
    if (kind[1] !== 'catalog') {
      const url = isInline ? withHash(catalogUrl, shortText(members.get('id')) ?? here.join('.')) : at!
      cards.push({ kind: kind[1], url, ...(isInline && { data }) })
    } else if (isInline && place.length < deepest) {
      const inner = toCatalog(data, catalogUrl, here)
      cards.push(...(inner?.cards ?? []))
      catalogs.push(...(inner?.catalogs ?? []))
    } else if (at) catalogs.push(at)
  }
  const cut = Math.max(...[entries, cards, catalogs].map(({ length }) => length))
  return {
    cards: cards.slice(0, mostEntries),
    catalogs: catalogs.slice(0, mostEntries),
    ...(cut > mostEntries && { cut }),
  }
}

function withHash(url: URL, text: string): URL {
  const place = new URL(url)
  place.hash = text
  return place
}
