import type { SpecContent, SpecDetails } from '../../db/queries/sources/agent-specs.ts'
import { shortText } from './content.ts'
import { fieldsOf, type Meaning, means, membersOf } from './offers/spellings.ts'

/** A skill or a tool of a document. */
interface Listed {
  readonly name: string
  readonly id: string | null
  readonly tags: readonly string[]
}

/** A place that takes requests; texts are null when the document does not say. */
export interface Interface {
  readonly url: string
  readonly name: string | null
  /** How it is spoken to, as written: JSONRPC, streamable-http, sse. */
  readonly binding: string | null
  /** Version of the protocol. */
  readonly version: string | null
}

/** Most skills, tools or tags kept; `mostInterfaces`: of places and of security schemes. */
export const mostNames = 50
const mostInterfaces = 20
const mostTags = 10
/** Groups within groups that are looked at. */
const deepest = 3
const longestUrl = 2_048

/** What a reader found in a document; all of its lists whole. */
interface Read {
  readonly title: string | null
  readonly version: string | null
  readonly skills?: readonly Listed[]
  readonly tools?: readonly Listed[]
  readonly pathCount?: number | null
  readonly interfaces?: readonly Interface[]
  readonly security?: SpecDetails['security']
}

/** The content of a document with lists cut to what is kept, and a mark for each that is. */
export function contentOf(read: Read): SpecContent {
  const truncated: Record<string, number> = {}
  const cut = <T>(name: string, list: readonly T[] = [], most: number): readonly T[] => {
    if (list.length > most) truncated[name] = list.length
    return list.slice(0, most)
  }
  const skills = cut('skills', read.skills, mostNames)
  const tools = cut('tools', read.tools, mostNames)
  const described = skills.filter(({ id, name, tags }) => (id !== null && id !== name) || tags.length > 0)
  const details = {
    interfaces: cut('interfaces', read.interfaces, mostInterfaces),
    skills: described.map(({ name, id, tags }) => ({ name, id, tags: cut('tags', tags, mostTags) })),
    security: cut('security', read.security, mostInterfaces),
  }
  const said = Object.fromEntries(Object.entries(details).filter(([, list]) => list.length > 0))
  return {
    title: read.title,
    version: read.version,
    skills: skills.map(({ name }) => name),
    tools: tools.map(({ name }) => name),
    pathCount: read.pathCount ?? null,
    details: { ...said, ...(Object.keys(truncated).length > 0 && { truncated }) },
  }
}

/** Skills or tools: entries of a list, names of a map, or groups of either; each name once. None: the value has none. */
export function listedIn(value: unknown, meaning: 'skills' | 'tools'): Listed[] {
  return [...new Map(entriesIn(value, meaning, 0).map((entry) => [entry.name, entry])).values()]
}

function entriesIn(value: unknown, meaning: Meaning, depth: number): Listed[] {
  if (depth > deepest) return []
  if (Array.isArray(value)) return value.flatMap((entry) => entryOf(null, entry, meaning, depth))
  const members = Object.entries(fieldsOf(value))
  if (typeof fieldsOf(value).name === 'string') return entryOf(null, value, meaning, depth)
  return members.flatMap(([key, entry]) => (means(key, 'aboutList') ? [] : entryOf(key, entry, meaning, depth)))
}

/** An entry behind `key` of a map; null: of a list. */
function entryOf(key: string | null, entry: unknown, meaning: Meaning, depth: number): Listed[] {
  if (Array.isArray(entry)) return entriesIn(entry, meaning, depth + 1)
  const isObject = typeof entry === 'object' && entry !== null
  const members = membersOf(entry)
  const group = isObject ? members.get(meaning) : undefined
  if (typeof group === 'object') return entriesIn(group, meaning, depth + 1)
  if (!isObject && key !== null && typeof entry !== 'string') return []
  const named = isObject ? (members.get('name') ?? key) : (key ?? entry)
  const name = shortText(named) ?? shortText(membersOf(named).get('name')) ?? shortText(members.get('id'))
  const id = shortText(members.get('id'))
  return name === null ? [] : [{ name, id, tags: textsIn(members.get('tags')) }]
}

function textsIn(value: unknown): string[] {
  const list = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : []
  return [...new Set(list.flatMap((one) => shortText(one) ?? []))]
}

/** Places in a list, a map, or one object or text, each once; `around`: what holds for them all. */
export function interfacesIn(value: unknown, around: Partial<Interface> = {}): Interface[] {
  const entries: [string | null, unknown][] = Array.isArray(value)
    ? value.map((entry) => [null, entry])
    : typeof value === 'string' || membersOf(value).get('place') !== undefined
      ? [[null, value]]
      : Object.entries(fieldsOf(value))
  const found = entries.flatMap(([key, entry]) => interfaceOf(key, entry, around))
  return [...new Map(found.map((one) => [`${one.url} ${one.binding}`, one])).values()]
}

function interfaceOf(key: string | null, entry: unknown, around: Partial<Interface>): Interface[] {
  const members = membersOf(entry)
  const url = addressText(typeof entry === 'string' ? entry : members.get('place'))
  if (url === null) return []
  const binding = members.get('binding')
  return [
    {
      url,
      name: shortText(members.get('name')) ?? shortText(key) ?? around.name ?? null,
      binding: shortText(binding) ?? shortText(membersOf(binding).get('schemeType')) ?? around.binding ?? null,
      version: shortText([members.get('protocolVersion')].flat()[0]) ?? around.version ?? null,
    },
  ]
}

/** An absolute address or a path; null: neither, or it is too long, because a cut one would lead elsewhere. */
function addressText(value: unknown): string | null {
  const isAddress = typeof value === 'string' && value.length <= longestUrl && /^\s*(https?:\/\/|\/)/i.test(value)
  return isAddress ? shortText(value, longestUrl) : null
}

/** Security schemes: a map of them by name, or a list, or a text with their names; none: the document has none. */
export function securityIn(value: unknown): NonNullable<SpecDetails['security']> {
  const inner = membersOf(value).get('schemes')
  if (inner !== undefined) return securityIn(inner)
  if (Array.isArray(value) || typeof value === 'string')
    return [value].flat().flatMap((one) => {
      const name = shortText(typeof one === 'object' ? (membersOf(one).get('name') ?? typeOf(one)) : one)
      return name === null || /^(none|null|false)$/i.test(name) ? [] : [{ name, type: shortText(typeOf(one)) }]
    })
  return Object.entries(fieldsOf(value)).flatMap(([key, scheme]) => {
    const name = shortText(key)
    // In A2A 1.0 the type is the key one level further in.
    const [type] = Object.keys(fieldsOf(scheme))
    const inside = type && /security_?scheme$/i.test(type) ? type.replace(/_?security_?scheme$/i, '') : typeOf(scheme)
    return name === null || typeof scheme !== 'object' ? [] : [{ name, type: shortText(inside) }]
  })
}

const typeOf = (scheme: unknown) => membersOf(scheme).get('schemeType')

/**
 * Whether a document says that it is a registration file, which has names, places and skills, too, and is no agent card at
 * the same time.
 */
export function isRegistrationFile(value: unknown): boolean {
  const { type, url, skills, supportedInterfaces } = fieldsOf(value)
  const isCard = Array.isArray(skills) && (url !== undefined || supportedInterfaces !== undefined)
  return [type].flat().some((one) => /e(ip|rc)-?8004/i.test(shortText(one) ?? '')) && !isCard
}
