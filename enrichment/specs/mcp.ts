import { z } from 'zod'
import { namesOf, type SpecContent, shortText } from './content.ts'

const text = z.string().trim().min(1)
const version = z.union([z.string(), z.number()]).optional()
const server = z.object({ name: text, title: z.string().optional(), version })

/** Marks by which a server card is told from any other JSON with a name. Two drafts are in use, with different keys. */
const marks = ['serverInfo', 'protocolVersion', 'mcpVersion', 'transport', 'transports', 'remotes', 'endpoint', 'tools']

const card = z.object({
  name: text.optional(),
  title: z.string().optional(),
  version,
  serverInfo: server.optional(),
  tools: z.unknown().optional(),
})

/** A server card. Source: Model Context Protocol, SEP-1649 and SEP-2127 (drafts). */
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

/** The request that opens an MCP session: it does nothing but ask who is there. No tool is ever called. */
export const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'agent-directory', version: '1.0' },
  },
})

const initialized = z.object({
  jsonrpc: z.literal('2.0'),
  result: z.object({ protocolVersion: text, serverInfo: server }),
})

/** What a server says of itself in answer to `initialize`. Source: MCP 2025-06-18, Lifecycle. */
export function toMcpServer(value: unknown): SpecContent | undefined {
  const parsed = initialized.safeParse(value)
  if (!parsed.success) return undefined
  const { name, title, version } = parsed.data.result.serverInfo
  return { title: shortText(title ?? name), version: shortText(version), skills: [], tools: [], pathCount: null }
}

/** The message in an event stream, by which a server may answer; the body itself when it is none. */
export function messageOf(body: Buffer, contentType: string): Buffer {
  if (!contentType.startsWith('text/event-stream')) return body
  const [event = ''] = body
    .toString('utf8')
    .split(/\r?\n\r?\n/)
    .filter((one) => /^data:/m.test(one))
  const lines = event.split(/\r?\n/).filter((line) => line.startsWith('data:'))
  return Buffer.from(lines.map((line) => line.slice('data:'.length)).join('\n'))
}
