import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { DoorError } from '../../../net/errors.ts'
import { type Json, jsonSha256 } from '../../../trust/canonical-json.ts'
import type { AgentHosts } from '../../agent-hosts.ts'
import { type SpecStatus, statusOf } from '../check-status.ts'
import { type SpecContent, shortText } from '../content.ts'
import { mostNames } from '../listing.ts'
import { type Sale, saleIn } from '../sale.ts'
import { specRequests } from '../spec-requests.ts'
import { createWire } from './wire.ts'

/** Most pages of a list of tools that are read. */
const mostPages = 3
const longestCursor = 4_096

const page = z.object({
  result: z.object({ tools: z.array(z.unknown()), nextCursor: z.string().max(longestCursor).optional() }),
})
const named = z.looseObject({ name: z.string() })

/** Result of asking a server. */
interface Asked {
  readonly status: SpecStatus
  readonly httpStatus: number | null
  readonly latencyMs: number | null
  /** What the server says about itself; set with status `ok`. */
  readonly content?: SpecContent
  /** SHA-256 over what the server says about itself and the definitions of its tools. */
  readonly sha256?: Buffer
  /** What it demands for telling who it is or which tools it has; undefined: it did not get that far. */
  readonly sale?: Sale
}

/**
 * Asks an MCP server who it is, which tools it has, and what it wants to be paid for telling either (x402, by a 402), in
 * the newest revision of the protocol or an older one, whichever it speaks. The revision is found out each time, so that
 * one that was upgraded is seen to be. `timeoutMs` is for all its requests together, without the time in our own queue.
 * Throws HostClosed when the host is not to be asked now, DoorErrors that say nothing about the host.
 *
 * Source: Model Context Protocol 2026-07-28 (server/discover) and 2025-11-25 (Lifecycle; Tools).
 */
export async function askServer(hosts: AgentHosts, url: URL, timeoutMs = specRequests.timeoutMs): Promise<Asked> {
  const wire = createWire(hosts, url, timeoutMs)
  const client = new Client({ name: 'agent-directory', version: '1.0' }, { versionNegotiation: { mode: 'auto' } })
  const asked = (status: SpecStatus) => ({ status, httpStatus: wire.httpStatus(), latencyMs: wire.latencyMs() })
  try {
    await client.connect(new StreamableHTTPClientTransport(url, { fetch: wire.fetch }))
    const there = asked('ok') // also when listing the tools fails
    const { tools, isCut } = client.getServerCapabilities()?.tools ? await toolsOf(client, wire) : noTools
    const { name, title, version } = client.getServerVersion() ?? {}
    const about = {
      title: shortText(title) ?? shortText(name),
      version: shortText(version),
      protocolVersion: shortText(client.getNegotiatedProtocolVersion()),
    }
    const names = tools.map(([name]) => name)
    const toolHashes = tools.map(([, hash]) => hash)
    const sha256 = Buffer.from(jsonSha256({ ...about, tools }), 'hex')
    const details = isCut ? { truncated: { tools: tools.length } } : {}
    const content = { ...about, skills: [], tools: names, toolHashes, pathCount: null, details }
    return { ...there, content, sha256, sale: saleIn(wire.demand()) }
  } catch (error) {
    const failure = wire.failure()
    if (failure instanceof DoorError && failure.checkStatus !== null) return asked(failure.checkStatus)
    if (failure !== undefined) throw failure
    const httpStatus = wire.httpStatus()
    if (httpStatus === null) throw error
    const status = statusOf(httpStatus) ?? 'schema_mismatch'
    return status === 'payment_required' ? { ...asked(status), sale: saleIn(wire.demand()) } : asked(status)
  } finally {
    await client.close()
  }
}

interface Tools {
  readonly tools: readonly (readonly [name: string, hash: string])[]
  readonly isCut: boolean
}

const noTools: Tools = { tools: [], isCut: false }

/**
 * Name and SHA-256 of the definition of each tool, in the server's order; empty: it does not list them to strangers.
 * `isCut`: it has more.
 * Hashes are over the definitions as received: the client's own parsing leaves out fields that it does not know.
 */
async function toolsOf(client: Client, wire: ReturnType<typeof createWire>): Promise<Tools> {
  const tools = new Map<string, string>()
  const seen = new Set<string>()
  let cursor: string | undefined
  let isCut = false
  for (let pages = 0; pages < mostPages && tools.size < mostNames; pages++) {
    const before = wire.answer()
    const params = cursor === undefined ? {} : { cursor }
    await client.request({ method: 'tools/list', params }).catch((error: unknown) => {
      if (wire.failure() !== undefined) throw error
    })
    const listed = wire.answer() === before ? undefined : page.safeParse(wire.answer()).data?.result
    if (!listed) return { tools: [...tools], isCut: isCut || cursor !== undefined }
    for (const tool of listed.tools) {
      const { data } = named.safeParse(tool)
      const name = shortText(data?.name)
      if (!data || name === null || tools.has(name)) continue
      if (tools.size === mostNames) {
        isCut = true
        break
      }
      const { _meta, ...definition } = data
      tools.set(name, jsonSha256(definition as Record<string, Json>))
    }
    cursor = listed.nextCursor
    if (cursor === undefined || seen.has(cursor)) return { tools: [...tools], isCut }
    seen.add(cursor)
  }
  return { tools: [...tools], isCut: true }
}
