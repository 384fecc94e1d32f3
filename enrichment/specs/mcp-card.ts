import type { SpecContent } from '../../db/queries/sources/agent-specs.ts'
import { textOf } from '../../trust/strict-json.ts'
import { shortText } from './content.ts'
import { contentOf, type Interface, interfacesIn, isRegistrationFile, listedIn, securityIn } from './listing.ts'
import { fieldsOf, type Members, membersOf } from './offers/spellings.ts'

/** Keys that tell a server card from any other JSON with a name. Two drafts are in use, with different keys. */
const marks = ['serverInfo', 'protocolVersion', 'tools', 'interfaces'] as const
/** Keys of other documents, which have servers or tools, too. */
const otherKinds = ['openapi', 'swagger', 'skills', 'x402Version']

/**
 * Reads a server card, or a list of servers, whatever its keys are called (offers/spellings.ts); undefined: neither.
 * Source: Model Context Protocol, SEP-1649 and SEP-2127 (drafts); `mcpServers` as in the configuration of clients.
 */
export function toMcpCard(whole: unknown): SpecContent | undefined {
  // Some have all of it one level further in, next to what they say of other protocols.
  const value = 'mcp' in fieldsOf(whole) ? { ...fieldsOf(whole), ...fieldsOf(fieldsOf(whole).mcp) } : whole
  const fields = fieldsOf(value)
  const members = membersOf(value)
  if (otherKinds.some((key) => key in fields) || isRegistrationFile(value)) return undefined
  const servers = members.all('servers').flatMap(serversIn)
  const all = [[null, value] as const, ...servers]
  const tools = all.flatMap(([, one]) => toolsIn(membersOf(one)))
  const [only] = servers.length === 1 ? servers : []
  const title = shownOf(members) ?? (only ? (shownOf(membersOf(only[1])) ?? only[0]) : null)
  const isMarked = marks.some((mark) => members.get(mark) !== undefined) || 'endpoint' in fields || tools.length > 0
  if (servers.length === 0 && !(isMarked && title !== null)) return undefined
  const version = shortText(fieldsOf(members.get('serverInfo')).version ?? fields.version)
  return contentOf({
    title,
    version: version ?? (only ? shortText(fieldsOf(only[1]).version) : null),
    tools: [...new Map(tools.map((tool) => [tool.name, tool])).values()],
    interfaces: all.flatMap(([key, one]) => placesOf(key, one)),
    security: securityIn(members.get('security')),
  })
}

/** What is shown of a server: its title, or its name. */
function shownOf(members: Members): string | null {
  const of = (value: unknown) => shortText(membersOf(value).get('shown'))
  return of(members.get('serverInfo')) ?? shortText(members.get('shown'))
}

function toolsIn(members: Members) {
  const inside = membersOf(members.get('capabilities')).get('tools')
  return [members.get('tools'), inside].flatMap((list) => listedIn(list, 'tools'))
}

/** Servers of a list or a map, by their keys; an entry may be wrapped in `server`, as in answers of a registry. */
function serversIn(value: unknown): (readonly [string | null, object])[] {
  const isServer = (one: unknown) =>
    membersOf(one).get('place') !== undefined ||
    ['command', 'name', 'remotes', 'serverInfo'].some((key) => key in fieldsOf(one))
  if (typeof value === 'string') return /^https?:\/\//i.test(value) ? [[null, { url: value }]] : []
  const entries: [string | null, unknown][] = Array.isArray(value)
    ? value.map((one) => [null, one])
    : isServer(value)
      ? [[null, value]]
      : Object.entries(fieldsOf(value))
  return entries.flatMap(([key, entry]) => {
    const one = fieldsOf(entry).server ?? entry
    return isServer(one) ? [[shortText(key), one as object] as const] : []
  })
}

function placesOf(key: string | null, server: unknown): Interface[] {
  const members = membersOf(server)
  const name = shownOf(members) ?? key
  const own = { name, version: shortText(members.get('protocolVersion')) }
  // A program that brings clients to a server elsewhere, as `npx mcp-remote https://…`.
  const { args } = fieldsOf(server)
  const remote = Array.isArray(args) ? args.find((one) => /^https?:\/\//i.test(textOf(one))) : undefined
  const ways = members.all('interfaces').filter((one) => typeof one === 'object')
  return [
    ...(members.get('place') === undefined ? [] : interfacesIn(key === null ? server : { ...fieldsOf(server), name })),
    ...interfacesIn(remote, own),
    ...ways.flatMap((one) => interfacesIn(one, own)),
  ]
}
