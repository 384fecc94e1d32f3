import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { z } from 'zod'
import type { SpecContent } from '../../../db/queries/sources/agent-specs.ts'
import type { Fetched } from '../../../net/door.ts'
import { DoorError } from '../../../net/errors.ts'
import { type Json, jsonSha256 } from '../../../trust/canonical-json.ts'
import type { AgentHosts } from '../../agent-hosts.ts'
import { type SpecStatus, statusOf } from '../check-status.ts'
import { shortText } from '../content.ts'
import { mostNames } from '../listing.ts'
import { type Sale, saleIn } from '../prices.ts'
import { specRequests } from '../spec-requests.ts'
import { demandOf } from '../x402.ts'
import { createEventStream } from './event-stream.ts'
import { createWire, type Wire } from './wire.ts'

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
  /** The answer in which it demands payment; undefined: there was none. */
  readonly demand?: Fetched
}

/**
 * Asks an MCP server who it is, which tools it has, and what it wants to be paid for telling either (x402, by a 402), in
 * the newest revision of the protocol or an older one, whichever it speaks. The revision is found out each time, so that
 * one that was upgraded is seen to be. `timeoutMs` is for all requests of one transport together, without the time in our
 * own queue; a server that refuses the newer transport is asked by the older one within as long again.
 * Throws HostClosed when the host is not to be asked now, DoorErrors that say nothing about the host.
 *
 * Source: Model Context Protocol 2026-07-28 (server/discover), 2025-11-25 (Lifecycle; Tools) and 2024-11-05 (HTTP with SSE).
 */
export async function askServer(hosts: AgentHosts, url: URL, timeoutMs = specRequests.timeoutMs): Promise<Asked> {
  const asked = await askByPost(hosts, url, timeoutMs)
  const isOlder = asked.status !== 'ok' && olderStatuses.includes(asked.httpStatus ?? 0)
  return (isOlder ? await askByEvents(hosts, url, timeoutMs) : undefined) ?? asked
}

/** Statuses with which a server of revision 2024-11-05 answers a POST. Source: 2025-11-25, Transports, Backwards Compatibility. */
const olderStatuses = [400, 404, 405]

/** Asks a server of revision 2024-11-05; undefined: it does not answer as such a server. */
async function askByEvents(hosts: AgentHosts, url: URL, timeoutMs: number): Promise<Asked | undefined> {
  const stream = createEventStream(hosts, url, timeoutMs)
  const client = new Client(about)
  try {
    await client.connect(stream.transport)
    return { status: 'ok', httpStatus: 200, latencyMs: stream.latencyMs(), ...(await tellingOf(client, stream)) }
  } catch {
    const failure = stream.failure()
    if (failure === undefined || (failure instanceof DoorError && failure.checkStatus !== null)) return undefined
    throw failure
  } finally {
    await client.close()
  }
}

const about = { name: 'agent-directory', version: '1.0' }

async function askByPost(hosts: AgentHosts, url: URL, timeoutMs: number): Promise<Asked> {
  const wire = createWire(hosts, url, timeoutMs)
  const client = new Client(about, { versionNegotiation: { mode: 'auto' } })
  const asked = (status: SpecStatus) => ({ status, httpStatus: wire.httpStatus(), latencyMs: wire.latencyMs() })
  try {
    await client.connect(new StreamableHTTPClientTransport(url, { fetch: wire.fetch }))
    const there = asked('ok') // also when listing the tools fails
    return { ...there, ...(await tellingOf(client, wire)), ...demanded(wire.demand()) }
  } catch (error) {
    const failure = wire.failure()
    if (failure instanceof DoorError && failure.checkStatus !== null) return asked(failure.checkStatus)
    if (failure !== undefined) throw failure
    const httpStatus = wire.httpStatus()
    if (httpStatus === null) throw error
    const status = statusOf(httpStatus) ?? 'schema_mismatch'
    return status === 'payment_required' ? { ...asked(status), ...demanded(wire.demand()) } : asked(status)
  } finally {
    await client.close()
  }
}

const demanded = (demand: Fetched | undefined) => ({ sale: saleIn(demand && demandOf(demand)), demand })

/** What answers of a server are taken from. */
type Heard = Pick<Wire, 'answer' | 'failure'>

/** What a server that the client is connected to says about itself. */
async function tellingOf(client: Client, heard: Heard) {
  const { tools, isCut } = client.getServerCapabilities()?.tools ? await toolsOf(client, heard) : noTools
  const { name, title, version } = client.getServerVersion() ?? {}
  const own = {
    title: shortText(title) ?? shortText(name),
    version: shortText(version),
    protocolVersion: shortText(client.getNegotiatedProtocolVersion()),
  }
  const names = tools.map(([name]) => name)
  const toolHashes = tools.map(([, hash]) => hash)
  const sha256 = Buffer.from(jsonSha256({ ...own, tools }), 'hex')
  const details = isCut ? { truncated: { tools: tools.length } } : {}
  return { content: { ...own, skills: [], tools: names, toolHashes, pathCount: null, details }, sha256 }
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
async function toolsOf(client: Client, wire: Heard): Promise<Tools> {
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
