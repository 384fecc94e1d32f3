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
  const stream = new Conversation(hosts, url, timeoutMs)
  return {
    transport: stream.transport,
    latencyMs: () => stream.latencyMs,
    failure: () => stream.failure,
    answer: () => stream.last,
  }
}

class Conversation {
  latencyMs: number | null = null
  failure: unknown
  last: unknown
  readonly transport: Transport
  readonly #place: Promise<URL>
  #named: (place: URL) => void = () => {}
  #unnamed: (error: unknown) => void = () => {}
  readonly #closing = new AbortController()
  readonly #startedAt = performance.now()
  /** Ids of requests without an answer. */
  readonly #asked = new Set<number | string>()
  #events = 0
  #requests = 0

  constructor(
    private readonly hosts: AgentHosts,
    private readonly url: URL,
    private readonly timeoutMs: number,
  ) {
    this.#place = new Promise((...both) => {
      ;[this.#named, this.#unnamed] = both
    })
    this.#place.catch(() => {})
    this.transport = {
      start: async () => {
        void this.#listen()
        await this.#place
      },
      send: (message) => this.#send(message),
      close: async () => {
        this.#closing.abort(new DoorError('closed', 'the conversation is over'))
        this.transport.onclose?.()
      },
    }
  }

  #fail(error: unknown) {
    this.failure ??= error
    this.#unnamed(error)
    this.#closing.abort(error)
    this.transport.onclose?.()
  }

  #heard(name: string, data: string) {
    // A part may hold many more events than the one that ended the conversation.
    if (this.#closing.signal.aborted) return
    if (++this.#events > mostEvents) return this.#fail(new DoorError('too_large', `more than ${mostEvents} events`))
    if (name === 'endpoint') {
      const place = URL.parse(data, this.url.href)
      if (place?.origin !== this.url.origin)
        return this.#fail(new DoorError('redirect_refused', 'messages are to go elsewhere'))
      this.latencyMs ??= Math.round(performance.now() - this.#startedAt)
      return this.#named(place)
    }
    const message = name === 'message' ? incoming.safeParse(jsonOf(data)).data : undefined
    // What the server asks of its client, or tells it, is dropped.
    if (!message || !this.#asked.delete(message.id)) return
    this.last = message
    this.transport.onmessage?.(message as unknown as JSONRPCMessage)
  }

  async #listen() {
    const { timeoutMs, url } = this
    const hear = createEvents((name, data) => this.#heard(name, data))
    const options = { ...specRequests, timeoutMs, maxBytes, headers: { accept: 'text/event-stream' } }
    try {
      const { status } = await this.hosts.fetch(url, {
        ...options,
        mayTimeOut: true,
        listen: { hear, until: this.#closing.signal },
      })
      if (!this.#closing.signal.aborted)
        this.#fail(new DoorError('broken_answer', `${url.host} has no stream of events, or ended it: ${status}`))
    } catch (error) {
      this.#fail(error)
    }
  }

  async #send(message: JSONRPCMessage) {
    const { method, id } = outgoing.parse(message)
    if (!sent.has(method)) return
    if (++this.#requests > mostRequests)
      throw new DoorError('too_large', `more than ${mostRequests} requests are needed`)
    if (id !== undefined) this.#asked.add(id)
    const { timeoutMs, url } = this
    const options = { ...specRequests, timeoutMs, maxBytes: maxAcceptedBytes, method: 'POST' } as const
    const headers = { accept: 'application/json', 'content-type': 'application/json' }
    const place = await this.#place
    const posted = this.hosts.fetch(place, { ...options, headers, body: JSON.stringify(message) })
    const { status } = await posted.catch((error: unknown) => {
      this.#fail(error)
      throw error
    })
    if (status >= 300) this.#fail(new DoorError('broken_answer', `${url.host} answered a message with ${status}`))
  }
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
