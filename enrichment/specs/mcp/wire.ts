import { z } from 'zod'
import type { Fetched } from '../../../net/door.ts'
import { DoorError } from '../../../net/errors.ts'
import { parseJson } from '../../../net/json.ts'
import type { AgentHosts } from '../../agent-hosts.ts'
import { specRequests } from '../spec-requests.ts'

/** Most requests of one conversation with an MCP server; `maxBytes`: bytes of one answer. */
export const mostRequests = 8
const maxBytes = 256 * 1024

/** The only messages that are sent. No tool is ever called, whatever a server asks of its client. */
export const sent: ReadonlySet<unknown> = new Set([
  'server/discover',
  'initialize',
  'notifications/initialized',
  'tools/list',
])
/** Headers of the protocol; the session's number is one that the server gave in this conversation. */
const headers = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-session-id']

const outgoing = z.object({ method: z.string().optional(), id: z.union([z.number(), z.string()]).optional() })
const answer = z.looseObject({ jsonrpc: z.literal('2.0'), id: z.union([z.number(), z.string()]) })

/** A 2xx answer without a message that answers the request. */
class Unanswered extends Error {
  override readonly name = 'Unanswered'
}

/** What went over the wire in one conversation. */
export interface Wire {
  /** `fetch` for the protocol's client: posts the messages that may be sent, and answers all others itself. */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>
  /** HTTP status of the last answer; null: there was none. */
  httpStatus(): number | null
  /** Milliseconds to the first answer. */
  latencyMs(): number | null
  /** Error that ended the conversation; undefined: none, or the client ended it. */
  failure(): unknown
  /** The last message that answered a request. */
  answer(): unknown
  /** The last 402 answer; undefined: there was none. */
  demand(): Fetched | undefined
}

/**
 * Transport of an MCP client through the door of `net/`: only POST, to one address, no redirects, bounded in requests,
 * bytes and time. Of every answer the client sees only the message that answers its request; requests and notifications
 * that a server sends along are dropped.
 */
export function createWire(hosts: AgentHosts, url: URL, timeoutMs: number): Wire {
  let requests = 0
  let leftMs = timeoutMs
  let httpStatus: number | null = null
  let latencyMs: number | null = null
  let failure: unknown
  let last: unknown
  let demand: Fetched | undefined

  async function post(init: RequestInit): Promise<Response> {
    const { method, id } = outgoing.parse(JSON.parse(String(init.body)))
    if (!sent.has(method)) return accepted()
    if (++requests > mostRequests) throw new DoorError('too_large', `more than ${mostRequests} requests are needed`)
    if (leftMs <= 0) throw new DoorError('timeout', `no end of the conversation in ${timeoutMs} ms`)
    const given = new Headers(init.headers)
    const fetched = await hosts.fetch(url, {
      method: 'POST',
      body: String(init.body),
      headers: Object.fromEntries(headers.flatMap((name) => (given.has(name) ? [[name, given.get(name)!]] : []))),
      maxBytes,
      timeoutMs: leftMs,
      redirects: 0,
      ports: specRequests.ports,
    })
    leftMs -= fetched.elapsedMs
    latencyMs ??= Math.round(fetched.elapsedMs)
    // Older servers answer a notification in many ways; no answer to it is expected.
    if (id === undefined) return accepted()
    httpStatus = fetched.status
    if (httpStatus === 402) demand = fetched
    if (httpStatus < 200 || httpStatus >= 300) return refused(fetched)
    try {
      last = answerIn(fetched, id)
    } catch (error) {
      // Some older servers answer unknown methods invalidly; `initialize` shows whether the server works.
      if (method === 'server/discover') return new Response(null, { status: 404 })
      throw error
    }
    return new Response(JSON.stringify(last), {
      headers: { 'content-type': 'application/json', ...sessionOf(fetched) },
    })
  }

  return {
    async fetch(_url, init) {
      if (init?.method !== 'POST') return new Response(null, { status: 405 })
      try {
        return await post(init)
      } catch (error) {
        failure ??= error
        throw error
      }
    },
    httpStatus: () => httpStatus,
    latencyMs: () => latencyMs,
    failure: () => (failure instanceof Unanswered ? undefined : failure),
    answer: () => last,
    demand: () => demand,
  }
}

const accepted = () => new Response(null, { status: 202 })

/** A refusal for the client: its status, and the body, a JSON-RPC error in which a server may name its versions. */
function refused({ status, body }: Fetched): Response {
  if (status === 304 || status < 200) return new Response(null, { status: 400 })
  // A Response takes none above 599, which some walls against bots answer with.
  return new Response(body.toString('utf8'), { status: status > 599 ? 500 : status })
}

/** The message in an answer that answers request `id`. Throws DoorError `not_json` or Unanswered when there is none. */
function answerIn({ headers, body }: Fetched, id: number | string): unknown {
  const isStream = headers.get('content-type')?.trimStart().toLowerCase().startsWith('text/event-stream') ?? false
  const messages = isStream ? eventsOf(body) : [parseJson(body)].flat()
  const found = messages.find((message) => answer.safeParse(message).data?.id === id)
  if (found === undefined) throw new Unanswered('the answer is not to the request')
  return found
}

/** Messages of an event stream. Source: WHATWG HTML, Server-sent events. */
function eventsOf(body: Buffer): unknown[] {
  return body
    .toString('utf8')
    .split(/\r\n\r\n|\n\n|\r\r/)
    .map((event) =>
      event
        .split(/\r\n|\n|\r/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice('data:'.length).replace(/^ /, ''))
        .join('\n'),
    )
    .filter((data) => data !== '')
    .map((data) => parseJson(Buffer.from(data)))
}

/** Header with the session id, if it can be sent back: visible ASCII, as the protocol demands. */
function sessionOf({ headers }: Fetched): Record<string, string> {
  const session = headers.get('mcp-session-id')
  return session !== undefined && /^[\x21-\x7e]{1,1024}$/.test(session) ? { 'mcp-session-id': session } : {}
}
