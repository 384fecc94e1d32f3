import { trimmedText } from '../../db/text.ts'
import { type ListedRegistration, toListedRegistration } from './listed-registration.ts'

/** Longest registration file in bytes, wherever it is stored. */
export const maxDocumentBytes = 256 * 1024

/** The part of a registration file that was understood. Texts are clean and bounded; null: the file does not say. */
export interface RegistrationFile {
  readonly name: string | null
  readonly description: string | null
  readonly image: string | null
  readonly active: boolean | null
  readonly x402Support: boolean | null
  readonly services: readonly Service[]
  readonly supportedTrust: readonly string[]
  /** Registrations that the file lists as the agent's; null: no list. Whether they are, depends on their holders. */
  readonly registrations: readonly ListedRegistration[] | null
  /** Entries of the lists that have more than are kept, by name of the list: so many it has. */
  readonly truncated: Readonly<Record<string, number>>
}

export interface Service {
  readonly name: string | null
  readonly endpoint: string | null
  readonly version: string | null
  /** What the file says that it can do, which nobody has seen there; undefined: it does not say. */
  readonly declared?: Declared
}

const declaredLists = ['skills', 'domains', 'tools', 'prompts', 'resources'] as const

type Declared = { readonly [list in (typeof declaredLists)[number]]?: readonly string[] } & {
  /** Set when a list of the file has more entries than are kept. */
  readonly truncated?: true
}

/** Longest texts in code points; `mostServices` and its like: most entries that are kept. */
const longest = { name: 200, description: 4_096, url: 2_048, trust: 100 }
const mostServices = 50
const mostDeclared = 50
const mostTrust = 20
const mostRegistrations = 50

/**
 * What members mean, by the keys that files in use write, compared in lower case and without underscores. The next spelling
 * is a word in its row.
 */
const spellings = {
  services: ['services', 'endpoints'],
  title: ['name', 'title', 'displayname', 'agentname'],
  registrations: ['registrations', 'registration'],
  trust: ['supportedtrust', 'supportedtrusts', 'trustmodels', 'trust'],
  x402: ['x402support', 'x402supported', 'x402enabled', 'supportsx402', 'acceptsx402', 'x402'],
  image: ['image', 'imageurl', 'images', 'logo', 'logourl', 'icon', 'iconurl', 'avatar', 'avatarurl', 'picture'],
  active: ['active', 'isactive'],
  /** Of a service. */
  name: ['name', 'servicetype', 'servicename', 'type', 'kind', 'id', 'protocol', 'label', 'title'],
  endpoint: ['endpoint', 'url', 'serviceendpoint', 'serviceurl', 'endpointurl', 'uri', 'baseurl', 'href', 'link'],
  /** Of an entry in the list of trust models. */
  model: ['type', 'protocol', 'model', 'trustmodel', 'kind', 'name', 'id'],
  /** Of a place that is an object. */
  address: ['url', 'src', 'uri', 'href'],
  /** One level around the file. */
  wrapper: [
    'agent',
    'registration',
    'agentregistration',
    'registrationfile',
    'erc8004',
    'metadata',
    'data',
    'manifest',
    'profile',
    'properties',
    'payload',
    'content',
    'result',
  ],
} as const

/** Services that may be named by a key of the file itself: `mcpEndpoint`, `a2a_url`. */
const flatServices = { mcp: 'MCP', a2a: 'A2A', web: 'web', oasf: 'OASF', api: 'api', x402: 'x402', openapi: 'openapi' }
const flatEndings = ['endpoint', 'url', 'serverurl', 'siteurl', 'cardurl', '']

/**
 * Reads a parsed JSON value as an ERC-8004 registration file, with the keys that older and mistaken files use, in any
 * case: lists written as objects or texts, services by keys of the file, booleans as texts, the file one level further in.
 *
 * Undefined: no such file, as its type does not say so and it has neither name nor description nor service. Never
 * throws. What the file says about wallets is left out: only the chain can.
 *
 * Source: ERC-8004, "Agent URI and Agent Registration File".
 */
export function toRegistrationFile(value: unknown): RegistrationFile | undefined {
  const fields = fieldsOf(value)
  if (!fields) return undefined
  const file = fileOf(fields)
  if (file) return file
  const inside = spellings.wrapper.map((key) => fieldsOf(fields.get(key))).find((one) => one !== undefined)
  return inside && fileOf(new Map([...fields, ...inside]))
}

function fileOf(fields: Fields): RegistrationFile | undefined {
  const listed = spellings.services.flatMap((key) => servicesOf(fields.get(key)))
  const services = withFlat(listed, fields)
  const supportedTrust = trustOf(first(fields, 'trust'))
  const registrations = registrationsOf(first(fields, 'registrations'))
  const truncated = {
    ...(services.length > mostServices && { services: services.length }),
    ...(supportedTrust.length > mostTrust && { supported_trust: supportedTrust.length }),
    ...((registrations?.length ?? 0) > mostRegistrations && { registrations: registrations?.length }),
  } as Record<string, number>
  const file = {
    name: textOf(first(fields, 'title'), longest.name),
    description: textOf(fields.get('description'), longest.description),
    image: imageOf(first(fields, 'image')),
    active: booleanOf(first(fields, 'active')),
    x402Support: x402Of(fields),
    services: services.slice(0, mostServices),
    supportedTrust: supportedTrust.slice(0, mostTrust),
    registrations: registrations?.slice(0, mostRegistrations) ?? null,
    truncated,
  }
  const saysSo = /e(ip|rc)-?8004/i.test(textOf(fields.get('type'), longest.url) ?? '')
  return saysSo || file.name !== null || file.description !== null || file.services.length > 0 ? file : undefined
}

/** The services of a file with those that keys of the file name, and with what such keys declare of them. */
function withFlat(services: readonly Service[], fields: Fields): Service[] {
  const all = [...services]
  for (const [key, name] of Object.entries(flatServices)) {
    const endpoint = flatEndings.map((ending) => webUrlOf(fields.get(`${key}${ending}`))).find((one) => one) ?? null
    const declared = declaredIn(fields, key)
    if (endpoint === null && !declared) continue
    const at = all.findIndex(
      (one) => one.name?.toLowerCase() === key && (endpoint === null || one.endpoint === endpoint),
    )
    const known = all[at] ?? { name, endpoint, version: null }
    const said = declared && { declared: { ...known.declared, ...declared } }
    all.splice(at < 0 ? all.length : at, at < 0 ? 0 : 1, { ...known, ...said })
  }
  return all
}

/** What lists of an object declare: `skills`, or behind the name of the protocol, `mcpTools`; undefined: nothing. */
function declaredIn(fields: Fields, ...prefixes: readonly string[]): Declared | undefined {
  let declared: Declared | undefined
  for (const list of declaredLists) {
    const entries = prefixes.map((prefix) => fields.get(`${prefix}${list}`)).find((one) => one != null)
    const names = [...new Set(entriesOf(entries).flatMap((entry) => nameOf(entry) ?? []))]
    if (names.length === 0) continue
    const truncated = (declared?.truncated ?? false) || names.length > mostDeclared
    declared = { ...declared, [list]: names.slice(0, mostDeclared), ...(truncated && { truncated }) }
  }
  return declared
}

/** Entries of a list, of a text with commas, or the names of a map. */
function entriesOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (typeof value === 'string') return value.split(',')
  return typeof value === 'object' && value !== null ? Object.keys(value) : []
}

function nameOf(entry: unknown): string | null {
  const fields = fieldsOf(entry)
  return textOf(fields ? (fields.get('name') ?? fields.get('id')) : entry, longest.name)
}

const first = (fields: Fields, meaning: keyof typeof spellings) =>
  spellings[meaning].map((key) => fields.get(key)).find((value) => value != null)

type Fields = ReadonlyMap<string, unknown>

/** The fields of an object by key in lower case without underscores; of two that are alike then, the first counts. Undefined: not an object. */
function fieldsOf(value: unknown): Fields | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const fields = new Map<string, unknown>()
  for (const [key, field] of Object.entries(value)) {
    const name = key.toLowerCase().replaceAll('_', '')
    if (!fields.has(name)) fields.set(name, field)
  }
  return fields
}

function textOf(value: unknown, codePoints: number): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? trimmedText(value, codePoints) : null
}

/** An address; null when it is too long, because a cut one would lead elsewhere. */
function urlOf(value: unknown): string | null {
  return typeof value === 'string' && value.length <= longest.url ? textOf(value, longest.url) : null
}

/** Of a key that may mean something else, such as `x402: true`. */
const webUrlOf = (value: unknown) => (typeof value === 'string' && /^\s*https?:\/\//i.test(value) ? urlOf(value) : null)

/** The first of an image's addresses; each may be an object that has it. */
function imageOf(value: unknown): string | null {
  return [value].flat().flatMap((one) => placeOf(one) ?? [])[0] ?? null
}

/** An address, or that of an object that has one. */
function placeOf(value: unknown): string | null {
  const fields = fieldsOf(value)
  return urlOf(fields ? first(fields, 'address') : value)
}

function booleanOf(value: unknown): boolean | null {
  const text = typeof value === 'string' ? value.trim().toLowerCase() : value
  return text === true || text === 1 || text === 'true' || text === 'yes' || text === '1'
    ? true
    : text === false || text === 0 || text === 'false' || text === 'no' || text === '0'
      ? false
      : null
}

function x402Of(fields: Fields): boolean | null {
  for (const key of spellings.x402) {
    const value = fields.get(key)
    const said = booleanOf(value) ?? booleanOf(fieldsOf(value)?.get('enabled') ?? fieldsOf(value)?.get('supported'))
    if (said !== null) return said
  }
  return null
}

function servicesOf(value: unknown): Service[] {
  if (Array.isArray(value)) return value.flatMap((entry) => serviceOf(entry) ?? [])
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, entry]) => {
    const name = textOf(key, longest.name)
    return [entry].flat().flatMap((one) => {
      if (typeof one === 'string') return { name, endpoint: urlOf(one), version: null }
      const service = serviceOf(one)
      return service ? { ...service, name: service.name ?? name } : []
    })
  })
}

function serviceOf(entry: unknown): Service | undefined {
  if (typeof entry === 'string') {
    const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(entry)
    return isUrl
      ? { name: null, endpoint: urlOf(entry), version: null }
      : { name: textOf(entry, longest.name), endpoint: null, version: null }
  }
  const fields = fieldsOf(entry)
  if (!fields) return undefined
  const declared = declaredIn(fields, '', 'mcp', 'a2a')
  const service = {
    name: textOf(first(fields, 'name'), longest.name),
    endpoint: placeOf(first(fields, 'endpoint')),
    version: textOf(fields.get('version'), longest.name),
    ...(declared && { declared }),
  }
  return service.name !== null || service.endpoint !== null ? service : undefined
}

function trustOf(value: unknown): string[] {
  const map = fieldsOf(value)
  const named = map && Object.entries(value as object).flatMap(([key, one]) => (booleanOf(one) === false ? [] : [key]))
  const entries = named ?? (Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [])
  const texts = entries.map((entry) => {
    const fields = fieldsOf(entry)
    return textOf(fields ? first(fields, 'model') : entry, longest.trust)
  })
  return [...new Set(texts.filter((text) => text !== null))]
}

function registrationsOf(value: unknown): ListedRegistration[] | null {
  if (Array.isArray(value)) return value.flatMap((entry) => toListedRegistration(entry) ?? [])
  const fields = fieldsOf(value)
  if (!fields) return null
  // One entry, or a map of them by their chains.
  const own = toListedRegistration(value)
  const listed = own
    ? [own]
    : Object.entries(value as object).flatMap(([chain, one]) => {
        const entry = fieldsOf(one) ? toListedRegistration({ chain, ...(one as object) }) : undefined
        return entry ?? []
      })
  return listed.length > 0 ? listed : null
}
