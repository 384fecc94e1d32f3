import { z } from 'zod'
import { namesOf, type SpecContent, shortText } from './content.ts'

const text = z.string().trim().min(1)
const version = z.union([z.string(), z.number()]).optional()
const server = z.object({ name: text, title: z.string().optional(), version })

/** Keys that tell a server card from any other JSON with a name. Two drafts are in use, with different keys. */
const marks = ['serverInfo', 'protocolVersion', 'mcpVersion', 'transport', 'transports', 'remotes', 'endpoint', 'tools']

const card = z.object({
  name: text.optional(),
  title: z.string().optional(),
  version,
  serverInfo: server.optional(),
  tools: z.unknown().optional(),
})

/** Reads a server card; undefined: not one. Source: Model Context Protocol, SEP-1649 and SEP-2127 (drafts). */
export function toMcpCard(value: unknown): SpecContent | undefined {
  const parsed = card.safeParse(value)
  if (!parsed.success || !marks.some((mark) => mark in (value as object))) return undefined
  if ('skills' in (value as object)) return undefined // an agent card, which has a protocol version too
  const { name, title, version, serverInfo, tools } = parsed.data
  const shown = serverInfo?.title ?? serverInfo?.name ?? title ?? name
  if (shown === undefined) return undefined
  return {
    title: shortText(shown),
    version: shortText(serverInfo?.version ?? version),
    skills: [],
    tools: Array.isArray(tools) ? namesOf(tools) : [],
    pathCount: null,
  }
}

const entry = z.object({ type: z.literal('application/mcp-server-card+json'), url: text })
const catalog = z.object({ entries: z.array(z.unknown()) })

/**
 * Address of the MCP server card in a host's catalog, the first if there are several. Undefined: not a catalog, or it
 * names none. Source: Model Context Protocol, experimental-ext-server-card, discovery (July 2026).
 */
export function cardInCatalog(value: unknown, catalogUrl: URL): URL | undefined {
  const { entries = [] } = catalog.safeParse(value).data ?? {}
  const named = entries.map((one) => entry.safeParse(one).data).find((one) => one !== undefined)
  return (named && URL.parse(named.url, catalogUrl.href)) ?? undefined
}
