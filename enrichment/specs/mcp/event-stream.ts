import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { DoorError } from '../../../net/errors.ts'
import { parseJson } from '../../../net/json.ts'
import type { AgentHosts } from '../../agent-hosts.ts'
import { specRequests } from '../spec-requests.ts'
import { mostRequests, sent } from './wire.ts'

/** Bytes of the whole stream, and events in it. */
const maxBytes = 256 * 1024
const mostEvents = 64
/** Bytes of an answer to a POST: what counts comes over the stream. */
const maxAcceptedBytes = 16 * 1024

const outgoing = z.object({ method: z.string().optional(), id: z.union([z.number(), z.string()]).optional() })
const incoming = z.looseObject({ jsonrpc: z.literal('2.0'), id: z.union([z.number(), z.string()]) })

/** A conversation over one stream of events, for the protocol's client. */
interface EventStream {
  readonly transport: Transport
  /** Milliseconds to the event that names the address for messages. */
  latencyMs(): number | null
  /** Error that ended the conversation; undefined: none. */
  failure(): unknown
  /** The last message that answered a request. */
  answer(): unknown
}

/**
 * Transport of an MCP client to a server of revision 2024-11-05, through the door of `net/`: one GET opens a stream, whose
 * first event names the address for messages, and answers come as its events. Only an address of the same origin is taken.
 * Bounded in requests, events, bytes and time; ends with `close`.
 *
 * Source: Model Context Protocol 2024-11-05, Transports (HTTP with SSE).
 */
export function createEventStream(hosts: AgentHosts, url: URL, timeoutMs: number): EventStream {
  const closing = new AbortController()
  let resolve: (place: URL) => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const named = new Promise<URL>((...both) => {
    ;[resolve, reject] = both
  })
  named.catch(() => {})
  const asked = new Set<number | string>()
  const startedAt = performance.now()
  let events = 0
  let requests = 0
  let latencyMs: number | null = null
  let failure: unknown
  let last: unknown

  function fail(error: unknown) {
    failure ??= error
    reject(error)
    closing.abort(error)
    transport.onclose?.()
  }

  function heard(name: string, data: string) {
    // A part may hold many more events than the one that ended the conversation.
    if (closing.signal.aborted) return
    if (++events > mostEvents) return fail(new DoorError('too_large', `more than ${mostEvents} events`))
    if (name === 'endpoint') {
      const place = URL.parse(data, url.href)
      if (place?.origin !== url.origin) return fail(new DoorError('redirect_refused', 'messages are to go elsewhere'))
      latencyMs ??= Math.round(performance.now() - startedAt)
      return resolve(place)
    }
    const message = name === 'message' ? incoming.safeParse(jsonOf(data)).data : undefined
    // What the server asks of its client, or tells it, is dropped.
    if (!message || !asked.delete(message.id)) return
    last = message
    transport.onmessage?.(message as unknown as JSONRPCMessage)
  }

  async function listen() {
    const read = createEvents(heard)
    const options = { ...specRequests, timeoutMs, maxBytes, headers: { accept: 'text/event-stream' } }
    try {
      const { status } = await hosts.fetch(url, {
        ...options,
        mayTimeOut: true,
        listen: { hear: read, until: closing.signal },
      })
      if (!closing.signal.aborted)
        fail(new DoorError('broken_answer', `${url.host} has no stream of events, or ended it: ${status}`))
    } catch (error) {
      fail(error)
    }
  }

  const transport: Transport = {
    async start() {
      void listen()
      await named
    },
    async send(message) {
      const { method, id } = outgoing.parse(message)
      if (!sent.has(method)) return
      if (++requests > mostRequests) throw new DoorError('too_large', `more than ${mostRequests} requests are needed`)
      if (id !== undefined) asked.add(id)
      const options = { ...specRequests, timeoutMs, maxBytes: maxAcceptedBytes, method: 'POST' } as const
      const headers = { accept: 'application/json', 'content-type': 'application/json' }
      const posted = hosts.fetch(await named, { ...options, headers, body: JSON.stringify(message) })
      const { status } = await posted.catch((error: unknown) => {
        fail(error)
        throw error
      })
      if (status >= 300) fail(new DoorError('broken_answer', `${url.host} answered a message with ${status}`))
    },
    async close() {
      closing.abort(new DoorError('closed', 'the conversation is over'))
      transport.onclose?.()
    },
  }
  return { transport, latencyMs: () => latencyMs, failure: () => failure, answer: () => last }
}

function jsonOf(data: string): unknown {
  try {
    return parseJson(Buffer.from(data))
  } catch {
    return undefined
  }
}

/**
 * Reads a stream of events, in parts cut anywhere; `heard` gets the name and the data of each. Every byte is looked at once,
 * however the parts are cut.
 *
 * Source: WHATWG HTML, Server-sent events.
 */
function createEvents(heard: (name: string, data: string) => void): (part: Buffer) => void {
  let parts: Buffer[] = []
  let name = 'message'
  let data: string[] = []

  function line(text: string) {
    if (text === '') {
      if (data.length > 0) heard(name, data.join('\n'))
      name = 'message'
      data = []
    } else if (text.startsWith('event:')) name = text.slice('event:'.length).trim()
    else if (text.startsWith('data:')) data.push(text.slice('data:'.length).replace(/^ /, ''))
  }

  return (part) => {
    let from = 0
    for (let end = part.indexOf(10); end !== -1; end = part.indexOf(10, from)) {
      const whole = Buffer.concat([...parts, part.subarray(from, end)]).toString('utf8')
      parts = []
      from = end + 1
      line(whole.replace(/\r$/, ''))
    }
    if (from < part.length) parts.push(part.subarray(from))
  }
}
