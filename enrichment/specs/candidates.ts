import { isSharedPlatform } from '../../config/platforms.ts'
import type { CheckUpCuts } from '../../db/queries/sources/agent-specs.ts'
import { maxUrlLength } from '../../net/target.ts'
import type { Service } from '../agent-uri/registration-file.ts'
import type { SpecKind } from './kinds.ts'

/** An address at which a document may be published. */
export interface Candidate {
  readonly kind: SpecKind
  readonly url: URL
  /** Whether the agent's registration file names it; else it is a usual place of such documents. */
  readonly declared: boolean
  /** Whether it is an MCP endpoint, which is asked in the protocol itself. */
  readonly session: boolean
  /** Whether it is a catalog, which leads to cards besides those that are known. */
  readonly leads?: true
  /** Every registration file that names it lists registrations, and none of this agent. */
  readonly contradicted: boolean
}

interface Candidates {
  /** Places of one document per group, the likeliest first; the next one is tried when there is no document. */
  readonly groups: readonly (readonly Candidate[])[]
  /** Origins that are asked whether they list the agent as their own. */
  readonly origins: readonly URL[]
  /** What is left out, with how many there are. */
  readonly truncated: Pick<CheckUpCuts, 'hosts' | 'places'>
}

/** A service of a registration file. */
interface NamedService extends Service {
  /** The file lists registrations, and none that the agent holds. */
  readonly contradicted: boolean
}

export interface CandidateInputs {
  readonly services: readonly NamedService[]
  /** The address in the account's profile at the social network. */
  readonly profileUrl: string | null
  /** Turns an address into the one that is requested: https, unless an operator made an exception. */
  readonly secured: (url: URL) => URL
}

/** Most hosts and endpoints of an agent; how many of them are asked at a time, check-up.ts says. */
const mostHosts = 20
const mostDeclared = 60

/** Where to look for an agent's documents: what it names first, then the usual places on its own hosts. */
export function candidatesOf({ services, profileUrl, secured }: CandidateInputs): Candidates {
  const endpoints = services.flatMap(({ name, endpoint, contradicted }) => {
    const url = toUrl(endpoint)
    return url ? [{ name: name?.toLowerCase() ?? '', url: secured(url), contradicted }] : []
  })
  const vouched = new Set(endpoints.flatMap(({ url, contradicted }) => (contradicted ? [] : [url.href])))
  const profile = toUrl(profileUrl)
  const pages = [...endpoints.map(({ url }) => url), ...(profile ? [secured(profile)] : [])]
  const allHosts = [...new Set(pages.map(({ host }) => host))]
  const hosts = allHosts.slice(0, mostHosts)
  const own = pages.filter((url) => hosts.includes(url.host) && !isSharedPlatform(url))
  const origins = [...new Map(own.map((url) => [url.origin, new URL(url.origin)])).values()]

  const named = endpoints
    .map(({ name, url }) => declaredAt(name, url, !vouched.has(url.href)))
    .filter((group) => group.length > 0)
  const all = withoutRepeats(named)
  const declared = all.filter(([first]) => hosts.includes(first!.url.host)).slice(0, mostDeclared)
  const usual = origins.flatMap((origin) =>
    usualPlaces.map(([kind, paths]) => paths.map((path) => at(kind, origin, path))),
  )
  const truncated = {
    ...(allHosts.length > mostHosts && { hosts: allHosts.length }),
    ...(declared.length < all.length && { places: all.length }),
  }
  return { groups: withoutRepeats([...declared, ...usual]), origins, truncated }
}

/** Where a catalog lies: of the agents of a host, or of its MCP servers. */
const catalogPlaces = ['/.well-known/ai-catalog.json', '/.well-known/mcp/catalog.json']

const usualPlaces: readonly (readonly [SpecKind, readonly string[]])[] = [
  ['a2a', ['/.well-known/agent-card.json', '/.well-known/agent.json']], // the second before A2A 0.3
  ['openapi', ['/openapi.json', '/.well-known/openapi.json', '/openapi.yaml']],
  ['x402', ['/.well-known/x402', '/.well-known/x402.json']],
  ['mcp', ['/.well-known/mcp/server-card.json', '/.well-known/mcp.json']], // two drafts
  ['mcp', catalogPlaces],
]

function at(kind: SpecKind, origin: URL, path: string): Candidate {
  const place = { kind, url: new URL(path, origin), declared: false, session: false, contradicted: false }
  return catalogPlaces.includes(path) ? { ...place, leads: true } : place
}

/** Documents that an endpoint promises by its name, or by its path when the name says nothing; empty: none. */
function declaredAt(name: string, url: URL, contradicted: boolean): Candidate[] {
  const isJson = url.pathname.endsWith('.json')
  const declared = (kind: SpecKind, at: URL, session = false) => {
    return { kind, url: at, declared: true, session, contradicted }
  }
  if (/openapi|swagger/.test(name) || /(openapi|swagger)\.(json|ya?ml)$/.test(url.pathname))
    return [declared('openapi', url)]
  if (/\bmcp\b/.test(name) && isJson) return [declared('mcp', url)]
  // Next to an endpoint that does not answer there may be its card, which is not declared.
  if (/\bmcp\b/.test(name))
    return [declared('mcp', url, true), { ...declared('mcp', below(url, '/server-card')), declared: false }]
  if (/x402/.test(name)) return [declared('x402', url)]
  if (/\b(home ?page|site|web([ -]?(app|page|site|ui))?)\b/.test(name))
    // A platform answers for every name, also for those of nobody.
    return isSharedPlatform(url) ? [] : [declared('web', url)]
  if (isJson && (/a2a|card/.test(name) || /\/agent(-card)?\.json$/.test(url.pathname))) return [declared('a2a', url)]
  if (!/a2a/.test(name)) return []
  return [declared('a2a', below(url, '/.well-known/agent-card.json')), declared('a2a', url)]
}

function below(url: URL, path: string): URL {
  const place = new URL(url)
  place.pathname = url.pathname.replace(/\/$/, '') + path
  place.search = ''
  return place
}

/** An http(s) address, its fragment removed; undefined: not one, an unfilled template, or one with credentials. */
function toUrl(text: string | null): URL | undefined {
  if (text === null || !/^https?:\/\//i.test(text) || /[{}]/.test(text)) return undefined
  const url = URL.parse(text)
  if (url?.username !== '' || url.password !== '') return undefined
  url.hash = ''
  return url
}

/** Key of a document among those of its agent: kind and address. */
export const placeOf = ({ kind, url }: { readonly kind: string; readonly url: URL | string }) => `${kind} ${url}`

function withoutRepeats(groups: readonly (readonly Candidate[])[]): Candidate[][] {
  const seen = new Set<string>()
  const isNew = (candidate: Candidate) => {
    const { url } = candidate
    const key = placeOf(candidate)
    // A longer place cannot be requested, and is more than the index of stored documents takes.
    return url.href.length <= maxUrlLength && !seen.has(key) && seen.add(key)
  }
  return groups.map((group) => group.filter(isNew)).filter((group) => group.length > 0)
}
