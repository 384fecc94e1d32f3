import { documentWork, profileLimits } from '../../../config/limits.ts'
import { storableText } from '../../../db/text.ts'
import { DoorError } from '../../../net/errors.ts'
import { maxUrlLength, parseTarget } from '../../../net/target.ts'
import { membersOf } from './spellings.ts'
import { noTerms, termsOf } from './terms.ts'
import { thingsOf } from './walk.ts'

/** What is sold at one place, as its seller describes it for buyers who look for something, unverified; null: not said. */
export interface Resource {
  /** An address, or a method and a path, as prices name it. */
  readonly resource: string | null
  readonly service_name: string | null
  readonly tags: readonly string[]
  readonly icon_url: string | null
  readonly route_template: string | null
  /** How it is called, what it answers, and the JSON Schema of both. */
  readonly input: object | null
  readonly output: object | null
  readonly schema: object | null
  /** Members that are said and not kept: longer than may be, or a schema that leads to another place. */
  readonly left_out: readonly string[]
}

interface Described {
  readonly resources: readonly Resource[]
  /** Whether there are more. */
  readonly isCut: boolean
}

/** Bytes of `input`, of `output` and of `schema`, and of all resources of a document together. */
const mostBytes = 4 * 1024
const mostBytesOfAll = 32 * 1024
const mostTags = 5

/**
 * What a manifest or a demand for payment says about what it sells, besides prices; things of which nothing is said are not
 * among it. Never throws.
 *
 * Source: x402 extensions bazaar (`info`, `schema`, `routeTemplate`; in version 1 `outputSchema`) and well-known-discovery
 * (`serviceName`, `tags`, `iconUrl`). A member that breaks its rule is left out alone.
 */
export function resourcesIn(document: unknown): Described {
  const found = new Map<string, Resource>()
  const all = [document, ...thingsOf(document)]
  let bytes = 0
  for (const thing of all.slice(0, documentWork.places)) {
    const one = resourceOf(thing)
    if (!one) continue
    const key = JSON.stringify([one.resource, one.input])
    if (found.has(key)) continue
    bytes += Buffer.byteLength(JSON.stringify(one))
    if (found.size >= profileLimits.resourcesOfDocument || bytes > mostBytesOfAll)
      return { resources: [...found.values()], isCut: true }
    found.set(key, one)
  }
  return { resources: [...found.values()], isCut: all.length > documentWork.places }
}

function resourceOf(thing: unknown): Resource | undefined {
  const members = membersOf(thing)
  const about = membersOf(members.get('resource'))
  const bazaar = membersOf(membersOf(members.get('extensions')).get('bazaar'))
  const info = membersOf(bazaar.get('info') ?? members.get('outputSchema'))
  const left_out: string[] = []
  const kept = (name: string, value: unknown) => {
    if (typeof value !== 'object' || value === null) return null
    const clean = cleaned(value) as object
    const isKept = Buffer.byteLength(JSON.stringify(clean)) <= mostBytes && !(name === 'schema' && leadsAway(clean))
    if (!isKept) left_out.push(name)
    return isKept ? clean : null
  }
  const said = {
    service_name: labelOf(about.get('service') ?? members.get('service')),
    tags: tagsOf(about.get('tags') ?? members.get('tags'), left_out),
    icon_url: iconOf(about.get('icon') ?? members.get('icon')),
    route_template: routeOf(bazaar.get('route')),
    input: kept('input', info.get('input') ?? members.get('input')),
    output: kept('output', info.get('output') ?? members.get('output')),
    schema: kept('schema', bazaar.get('schema')),
  }
  const isSaid = Object.values(said).some((one) => one !== null && !(Array.isArray(one) && one.length === 0))
  if (!isSaid && left_out.length === 0) return undefined
  return { resource: termsOf(thing, noTerms).resource, ...said, left_out }
}

/** Printable ASCII of up to 32 characters, which is what may be shown of a stranger's shop. */
function labelOf(value: unknown): string | null {
  const text = typeof value === 'string' ? value.trim() : ''
  return /^[\x20-\x7e]{1,32}$/.test(text) ? text : null
}

function tagsOf(value: unknown, leftOut: string[]): string[] {
  const given = (Array.isArray(value) ? value : []).flatMap((one) => labelOf(one) ?? [])
  const tags = [...new Map(given.map((tag) => [tag.toLowerCase(), tag])).values()]
  if (tags.length > mostTags) leftOut.push('tags')
  return tags.slice(0, mostTags)
}

/** A public web address, by the rules of the door: it may be shown to people whose browsers follow it. */
function iconOf(value: unknown): string | null {
  const url = typeof value === 'string' && value.length <= maxUrlLength ? URL.parse(value.trim()) : null
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return null
  const secure = new URL(url)
  secure.protocol = 'https:'
  try {
    parseTarget(secure, [Number(secure.port)], new Set())
  } catch (error) {
    if (error instanceof DoorError) return null
    throw error
  }
  return url.href
}

function routeOf(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > maxUrlLength || !/^\/[a-zA-Z0-9_/:.\-~%]+$/.test(value)) return null
  try {
    return /\.\.|:\/\//.test(decodeURIComponent(value)) ? null : value
  } catch {
    return null
  }
}

/** A JSON value with its texts and keys as they can be stored. */
function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value)
  if (Array.isArray(value)) return value.map(cleaned)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [storableText(key), cleaned(one)]))
}

/** Whether a schema has a part that lies elsewhere: nothing that a stranger names there is ever fetched. */
export function leadsAway(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(
    ([key, one]) => (/^\$(ref|id)$/.test(key) && typeof one === 'string' && !one.startsWith('#')) || leadsAway(one),
  )
}
