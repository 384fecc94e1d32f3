import { storableText } from '../../db/text.ts'

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
}

interface ListedRegistration {
  /** CAIP-10 address of an identity registry, lowercase. */
  readonly registry: string
  /** Number of the registration, in decimal. */
  readonly agentId: string
}

export interface Service {
  readonly name: string | null
  readonly endpoint: string | null
  readonly version: string | null
}

/** Longest texts in code points; `mostServices`: most entries of the list of services. */
const longest = { name: 200, description: 4_096, url: 2_048, trust: 100 }
const mostServices = 50
const mostTrust = 20
const mostRegistrations = 50

/**
 * Reads a parsed JSON value as an ERC-8004 registration file, with the keys that older and mistaken files use: any
 * case, `endpoints`, `supportedTrusts`, entries keyed `url` or `serviceEndpoint`, lists written as objects or texts.
 *
 * Undefined: no such file, as its type does not say so and it has neither name nor description nor service. Never
 * throws. What the file says about wallets is left out: only the chain can.
 *
 * Source: ERC-8004, "Agent URI and Agent Registration File".
 */
export function toRegistrationFile(value: unknown): RegistrationFile | undefined {
  const fields = fieldsOf(value)
  if (!fields) return undefined
  const file = {
    name: textOf(fields.get('name'), longest.name),
    description: textOf(fields.get('description'), longest.description),
    image: urlOf(fields.get('image')),
    active: booleanOf(fields.get('active')),
    x402Support: x402Of(fields),
    services: [...servicesOf(fields.get('services')), ...servicesOf(fields.get('endpoints'))].slice(0, mostServices),
    supportedTrust: trustOf(fields.get('supportedtrust') ?? fields.get('supportedtrusts') ?? fields.get('trustmodels')),
    registrations: registrationsOf(fields.get('registrations')),
  }
  const saysSo = /e(ip|rc)-?8004/i.test(textOf(fields.get('type'), longest.url) ?? '')
  return saysSo || file.name !== null || file.description !== null || file.services.length > 0 ? file : undefined
}

type Fields = ReadonlyMap<string, unknown>

/** The fields of an object by key in lower case; of two keys that differ only in case the first counts. Undefined: not an object. */
function fieldsOf(value: unknown): Fields | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const fields = new Map<string, unknown>()
  for (const [key, field] of Object.entries(value)) {
    const name = key.toLowerCase()
    if (!fields.has(name)) fields.set(name, field)
  }
  return fields
}

function textOf(value: unknown, codePoints: number): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? storableText(value.trim(), codePoints) || null : null
}

/** An address; null when it is too long, because a cut one would lead elsewhere. */
function urlOf(value: unknown): string | null {
  return typeof value === 'string' && value.length <= longest.url ? textOf(value, longest.url) : null
}

function booleanOf(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null
}

function x402Of(fields: Fields): boolean | null {
  for (const key of ['x402support', 'x402supported', 'x402enabled', 'x402']) {
    const value = fields.get(key)
    const said = booleanOf(value) ?? booleanOf(fieldsOf(value)?.get('enabled'))
    if (said !== null) return said
  }
  return null
}

function servicesOf(value: unknown): Service[] {
  if (Array.isArray(value)) return value.slice(0, mostServices).flatMap((entry) => serviceOf(entry) ?? [])
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value)
    .slice(0, mostServices)
    .flatMap(([key, entry]) => {
      const name = textOf(key, longest.name)
      if (typeof entry === 'string') return { name, endpoint: urlOf(entry), version: null }
      const service = serviceOf(entry)
      return service ? { ...service, name: service.name ?? name } : []
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
  const first = (keys: readonly string[]) => keys.map((key) => fields.get(key)).find((value) => value != null)
  const service = {
    name: textOf(first(['name', 'type', 'id', 'protocol']), longest.name),
    endpoint: urlOf(first(['endpoint', 'url', 'serviceendpoint', 'uri', 'base_url', 'baseurl'])),
    version: textOf(fields.get('version'), longest.name),
  }
  return service.name !== null || service.endpoint !== null ? service : undefined
}

function trustOf(value: unknown): string[] {
  if (!Array.isArray(value)) return []
  const texts = value.map((entry) => textOf(fieldsOf(entry)?.get('type') ?? entry, longest.trust))
  return [...new Set(texts.filter((text) => text !== null))].slice(0, mostTrust)
}

function registrationsOf(value: unknown): ListedRegistration[] | null {
  if (!Array.isArray(value)) return null
  return value.slice(0, mostRegistrations).flatMap((entry) => {
    const fields = fieldsOf(entry)
    const registry = textOf(fields?.get('agentregistry'), longest.name)?.toLowerCase()
    const agentId = textOf(fields?.get('agentid'), longest.name)
    return registry && agentId && /^(0|[1-9][0-9]{0,77})$/.test(agentId) ? [{ registry, agentId }] : []
  })
}
