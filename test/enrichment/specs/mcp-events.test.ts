import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createAgentHosts } from '../../../enrichment/agent-hosts.ts'
import { askServer } from '../../../enrichment/specs/mcp/session.ts'
import { createDoor } from '../../../net/door.ts'
import { parseEgressAllow } from '../../../net/egress.ts'

interface Message {
  readonly id?: number
  readonly method: string
}

interface Server {
  /** Data of the event that names the address for messages; null: there is none. */
  readonly endpoint?: string | null
  /** What comes over the stream before the address, byte by byte if it is short. */
  readonly before?: string
  /** What comes over the stream for a message; undefined: what a server would say. */
  readonly answer?: (message: Message) => string | undefined
  readonly status?: number
}

/** Longer texts are sent in one part. */
const mostCut = 1_000

const event = (message: unknown) => `event: message\r\ndata: ${JSON.stringify(message)}\r\n\r\n`
const usual: Record<string, unknown> = {
  initialize: {
    protocolVersion: '2024-11-05',
    capabilities: { tools: {} },
    serverInfo: { name: 'legacy', version: '1' },
  },
  'tools/list': { tools: [{ name: 'audit', inputSchema: { type: 'object' } }] },
}

/** A server of revision 2024-11-05, which answers a POST to its stream with `status`. */
async function startEvents({ endpoint = '/messages?s=1', before = '', answer, status = 405 }: Server = {}) {
  const asked: string[] = []
  let stream: ServerResponse | undefined
  const take = (request: IncomingMessage, response: ServerResponse) => {
    let body = ''
    request
      .on('data', (part) => (body += part))
      .on('end', () => {
        const message: Message = JSON.parse(body)
        asked.push(message.method)
        const result = usual[message.method]
        const own = answer?.(message)
        if (own !== undefined || message.id !== undefined)
          stream?.write(own ?? event({ jsonrpc: '2.0', id: message.id, result }))
        response.writeHead(202).end('Accepted')
      })
  }
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0]
    if (request.method === 'POST' && path === '/messages') return take(request, response)
    if (path !== '/sse' || request.method !== 'GET') return response.writeHead(status).end()
    asked.push('stream')
    stream = response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const part of before.length > mostCut ? [before] : before) stream.write(part)
    if (endpoint !== null) stream.write(`event: endpoint\ndata: ${endpoint}\n\n`)
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`
  /** Whether the stream was let go. */
  const isClosed = () =>
    new Promise<boolean>((resolve) => (stream?.closed ? resolve(true) : stream?.once('close', () => resolve(true))))
  return { url, asked, isClosed }
}

function ask(url: string, ms?: number) {
  const egressAllow = parseEgressAllow(new URL(url).host)
  const politeness = { intervalMs: 0, maxWaiting: 100, maxWaitMs: 10_000 }
  const door = createDoor({ userAgent: 'test/1.0 (+https://agents.shop.xyz)', egressAllow, politeness })
  onTestFinished(door.close)
  return askServer(createAgentHosts({ door, egressAllow, now: () => new Date() }), new URL(url), ms)
}

test('a server of the first revision is asked over its stream of events, which is let go afterwards', async () => {
  const { url, asked, isClosed } = await startEvents({ before: ': hello\n\n' })
  expect(await ask(url)).toMatchObject({
    status: 'ok',
    httpStatus: 200,
    latencyMs: expect.any(Number),
    content: { title: 'legacy', version: '1', protocolVersion: '2024-11-05', tools: ['audit'], details: {} },
  })
  expect(asked).toEqual(['stream', 'initialize', 'notifications/initialized', 'tools/list'])
  expect(await isClosed()).toBe(true)
})

test('what such a server asks or tells besides is passed over, and no tool is called', async () => {
  const noise = [
    { jsonrpc: '2.0', id: 99, method: 'sampling/createMessage', params: {} },
    { jsonrpc: '2.0', method: 'notifications/message', params: { data: 'x' } },
    { jsonrpc: '2.0', id: 'other', result: {} },
  ]
  const { url, asked } = await startEvents({
    answer: ({ id, method }) =>
      id === undefined
        ? undefined
        : `${noise.map(event).join('')}event: message\ndata: {\n\n${event({ jsonrpc: '2.0', id, result: usual[method] })}`,
  })
  expect(await ask(url)).toMatchObject({ status: 'ok', content: { tools: ['audit'] } })
  expect(asked).toEqual(['stream', 'initialize', 'notifications/initialized', 'tools/list'])
})

test.for<[string, Server]>([
  ['no address', { endpoint: null }],
  ['an address on another origin', { endpoint: 'http://127.0.0.1:9/messages' }],
  ['a text instead of an address', { endpoint: 'http://[' }],
  ['more bytes than are read', { endpoint: null, before: `data: ${'x'.repeat(300_000)}` }],
  ['more events than are read', { endpoint: null, before: 'data: x\n\n'.repeat(65) }],
  ['no answers', { answer: () => ': nothing\n\n' }],
])('a stream with %s is no server: what it answered to a POST stands', async ([, server]) => {
  const { url, isClosed } = await startEvents(server)
  expect(await ask(url, 1_000)).toMatchObject({ status: 'http_4xx', httpStatus: 405 })
  expect(await isClosed()).toBe(true)
})

test('a server that fails in another way is not asked for a stream', async () => {
  const { url, asked } = await startEvents({ status: 500 })
  expect(await ask(url)).toMatchObject({ status: 'http_5xx', httpStatus: 500 })
  expect(asked).toEqual([])
})
