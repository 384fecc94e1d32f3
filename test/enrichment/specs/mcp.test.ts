import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createTools } from '../../../api/mcp/tools.ts'
import { chains } from '../../../config/chains.ts'
import { agentDiagnosis } from '../../../db/queries/documents/doctor.ts'
import { agentPrices } from '../../../db/queries/documents/prices.ts'
import type { WebHost } from '../../../devnet/hosts/web-host.ts'
import { createAgentHosts } from '../../../enrichment/agent-hosts.ts'
import { askServer } from '../../../enrichment/specs/mcp/session.ts'
import { noSale } from '../../../enrichment/specs/prices.ts'
import { createDoor } from '../../../net/door.ts'
import { parseEgressAllow } from '../../../net/egress.ts'
import { publish, specsOf, startAgentsJob, startHosts } from '../../derive/agents/job.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { createClock } from '../../support/enrichment-job.ts'

const database = testDatabase()
let api: TestApi
beforeAll(async () => {
  api = await startApi(database)
})
afterAll(() => api.stop())

const impatient = { intervalMs: 0, maxWaiting: 100, maxWaitMs: 10_000 }

/** Asks an address as the source does; `ms` is for servers that never end. */
function ask(url: string, ms?: number) {
  const egressAllow = parseEgressAllow(new URL(url).host)
  const door = createDoor({ userAgent: 'test/1.0 (+https://agents.shop.xyz)', egressAllow, politeness: impatient })
  onTestFinished(door.close)
  return askServer(createAgentHosts({ door, egressAllow, now: () => new Date() }), new URL(url), ms)
}

interface Message {
  readonly id?: number | string
  readonly method: string
  readonly params?: { cursor?: string }
}

/** A server of an older revision; `answer` may say something else than it usually would, as JSON or as a whole page. */
async function startOlder(answer: (message: Message) => unknown = () => undefined) {
  const [host] = (await startHosts(1)) as [WebHost]
  const asked: Message[] = []
  const usual: Record<string, unknown> = {
    initialize: {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'ada', version: '1' },
    },
    'tools/list': { tools: [] },
  }
  host.pages.set('/mcp', (method, body) => {
    if (method !== 'POST') return { status: 405, body: '' }
    const message: Message = JSON.parse(body)
    asked.push(message)
    const other = answer(message)
    if (typeof other === 'object' && other !== null && 'body' in other) return other
    const result = other ?? usual[message.method]
    if (message.id === undefined) return { status: 202, body: '' }
    if (result === undefined) return { status: 404, body: '' }
    return { body: { jsonrpc: '2.0', id: message.id, result } }
  })
  return { host, url: `${host.url}/mcp`, asked, methods: () => asked.map(({ method }) => method) }
}

const server = (fields: object) => ({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, ...fields })
const tool = (name: unknown, rest: object = {}) => ({ name, inputSchema: { type: 'object' }, ...rest })
const event = (message: unknown) => `event: message\r\ndata: ${JSON.stringify(message)}\r\n\r\n`
const stream = (body: string) => ({ headers: { 'content-type': 'text/event-stream; charset=utf-8' }, body })

test('a server of the newest revision is asked without a handshake: this service’s own', async () => {
  const { status, httpStatus, latencyMs, content, sha256 } = await ask(`${api.url}/mcp`)
  expect({ status, httpStatus, latencyMs }).toEqual({ status: 'ok', httpStatus: 200, latencyMs: expect.any(Number) })
  expect(content).toMatchObject({ protocolVersion: '2026-07-28', title: expect.any(String), skills: [] })
  expect(content?.tools).toEqual(createTools().map(({ name }) => name))
  expect(new Set(content?.toolHashes).size).toBe(content?.tools.length)
  const again = await ask(`${api.url}/mcp`)
  expect([again.content, again.sha256]).toEqual([content, sha256])
})

test('a server of an older revision is asked with one, and keeps its session', async () => {
  const { url, host, methods } = await startOlder(({ method, id }) => {
    const headers = { 'mcp-session-id': 'number-7' }
    const result = server({ serverInfo: { name: 'ada', title: ' Ada\u0000s tools ', version: '3' } })
    if (method === 'initialize') return { headers, body: { jsonrpc: '2.0', id, result } }
    return method === 'tools/list' ? { tools: [tool('add'), tool('sub')] } : undefined
  })
  const { status, content } = await ask(url)
  expect([status, content]).toEqual([
    'ok',
    {
      title: 'Ada\ufffds tools',
      version: '3',
      protocolVersion: '2025-06-18',
      skills: [],
      tools: ['add', 'sub'],
      toolHashes: [expect.stringMatching(/^[0-9a-f]{64}$/), expect.stringMatching(/^[0-9a-f]{64}$/)],
      pathCount: null,
      details: {},
    },
  ])
  expect(methods()).toEqual(['server/discover', 'initialize', 'notifications/initialized', 'tools/list'])
  const sent = host.requests.map(({ method, headers }) => [
    method,
    headers['mcp-session-id'],
    headers['mcp-protocol-version'],
    headers['mcp-method'],
  ])
  expect(sent).toEqual([
    ['POST', undefined, '2026-07-28', 'server/discover'],
    ['POST', undefined, undefined, undefined],
    ['POST', 'number-7', '2025-06-18', undefined],
    ['POST', 'number-7', '2025-06-18', undefined],
  ])
})

test('an older server may answer as an event stream, and what it asks or tells besides is passed over', async () => {
  const noise = [
    { jsonrpc: '2.0', id: 'theirs', method: 'sampling/createMessage', params: {} },
    { jsonrpc: '2.0', id: 99, method: 'ping' },
    { jsonrpc: '2.0', method: 'notifications/message', params: { data: 'x' } },
  ]
  const { url, methods } = await startOlder(({ method, id }) => {
    if (method === 'server/discover' || id === undefined) return undefined
    const result =
      method === 'initialize' ? server({ serverInfo: { name: 'ada', version: '1' } }) : { tools: [tool('add')] }
    return stream(`: hello\r\n\r\n${noise.map(event).join('')}${event({ jsonrpc: '2.0', id, result })}`)
  })
  expect(await ask(url)).toMatchObject({ status: 'ok', content: { title: 'ada', tools: ['add'] } })
  expect(methods()).toEqual(['server/discover', 'initialize', 'notifications/initialized', 'tools/list'])
})

test('a definition has one hash whatever the order of its keys, and another once it says something else', async () => {
  const hashOf = async (definition: object) => {
    const { url } = await startOlder(({ method }) => (method === 'tools/list' ? { tools: [definition] } : undefined))
    return (await ask(url)).content?.toolHashes?.[0]
  }
  const first = await hashOf({ name: 'pay', description: 'Pays.', inputSchema: { type: 'object' }, unknown: [1] })
  expect(first).toMatch(/^[0-9a-f]{64}$/)
  expect(
    await hashOf({
      unknown: [1],
      inputSchema: { type: 'object' },
      _meta: { at: 7 },
      description: 'Pays.',
      name: 'pay',
    }),
  ).toBe(first)
  expect(await hashOf({ name: 'pay', description: 'Pays.', inputSchema: { type: 'object' }, unknown: [2] })).not.toBe(
    first,
  )
})

test('of a list the first three pages are read and fifty tools kept; a cursor that comes back ends it', async () => {
  const pages = await startOlder(({ method, params }) => {
    if (method !== 'tools/list') return undefined
    const page = Number(params?.cursor ?? 0)
    return { tools: Array.from({ length: 10 }, (_, n) => tool(`t${page * 10 + n}`)), nextCursor: String(page + 1) }
  })
  const long = (await ask(pages.url)).content
  expect([long?.tools.length, long?.details]).toEqual([30, { truncated: { tools: 30 } }])
  expect(pages.methods().filter((method) => method === 'tools/list')).toHaveLength(3)

  const loop = await startOlder(({ method, params }) =>
    method === 'tools/list' ? { tools: [tool(params?.cursor ?? 'first')], nextCursor: 'again' } : undefined,
  )
  expect((await ask(loop.url)).content?.tools).toEqual(['first', 'again'])
  expect(loop.methods().filter((method) => method === 'tools/list')).toHaveLength(2)

  const odd = [null, 7, tool(''), tool(7), tool(' ab '), tool('ab'), tool('x'.repeat(10_000)), { name: 'bare' }]
  const many = await startOlder(({ method }) =>
    method === 'tools/list' ? { tools: [...odd, ...Array.from({ length: 90 }, (_, n) => tool(`t${n}`))] } : undefined,
  )
  const { content } = await ask(many.url)
  expect(content?.tools.slice(0, 3)).toEqual(['ab', 'x'.repeat(200), 'bare'])
  expect([content?.tools.length, content?.toolHashes?.length]).toEqual([50, 50])
  expect(content?.details).toEqual({ truncated: { tools: 50 } })
})

test('a server that does not list its tools to strangers is there all the same', async () => {
  const silent = await startOlder(({ method }) =>
    method === 'initialize' ? server({ capabilities: {}, serverInfo: { name: 'ada', version: '1' } }) : undefined,
  )
  expect(await ask(silent.url)).toMatchObject({ status: 'ok', content: { tools: [], toolHashes: [] } })
  expect(silent.methods()).not.toContain('tools/list')
  for (const refusal of [
    { status: 401, body: '' },
    { body: { jsonrpc: '2.0', id: 2, error: { code: -32601, message: 'no' } } },
  ]) {
    const shy = await startOlder(({ method }) => (method === 'tools/list' ? refusal : undefined))
    expect(await ask(shy.url)).toMatchObject({ status: 'ok', httpStatus: 200, content: { tools: [] } })
  }
})

test('one that wants to be paid says what for: in the header of x402, in the body, or in an error of the protocol', async () => {
  const { address } = chains.base.tokens[0]!
  const way = { scheme: 'exact', network: 'eip155:8453', asset: address, amount: '2500', payTo: `0x${'a1'.repeat(20)}` }
  const demand = { x402Version: 2, resource: { url: 'mcp://tool/ask', description: 'One question' }, accepts: [way] }
  const price = {
    resource: 'mcp://tool/ask',
    description: 'One question',
    scheme: 'exact',
    network: 'eip155:8453',
    chain: 'base',
    asset: address,
    amount: '2500',
    payTo: way.payTo,
    minUsd: null,
    maxUsd: null,
  }
  const header = { 'payment-required': Buffer.from(JSON.stringify(demand)).toString('base64') }
  for (const page of [
    { status: 402, headers: header, body: {} },
    { status: 402, body: demand },
    { status: 402, body: { jsonrpc: '2.0', id: 1, error: { code: 402, message: 'Payment required', data: demand } } },
  ]) {
    const closed = await startOlder(() => page)
    expect(await ask(closed.url)).toMatchObject({
      status: 'payment_required',
      httpStatus: 402,
      sale: { prices: [price] },
    })
    const tools = await startOlder(({ method }) => (method === 'tools/list' ? page : undefined))
    expect(await ask(tools.url)).toMatchObject({ status: 'ok', content: { tools: [] }, sale: { prices: [price] } })
  }
  const free = await startOlder()
  expect(await ask(free.url)).toMatchObject({ status: 'ok', sale: noSale })
})

describe('a host that misbehaves is told by a word', () => {
  const onceAsked = (method: string, page: object) => (message: Message) =>
    message.method === method ? page : undefined
  const always = (page: object) => () => page
  const redirect = { status: 307, headers: { location: 'http://169.254.169.254/mcp' }, body: '' }
  const big = { body: { tools: [tool('x', { description: 'y'.repeat(300_000) })] } }
  test.for([
    ['auth_required', 401, always({ status: 401, body: 'who are you?' })],
    ['payment_required', 402, always({ status: 402, body: {} })],
    ['http_4xx', 403, always({ status: 403, body: '' })],
    ['not_found', 404, always({ status: 404, body: '' })],
    ['http_5xx', 500, always({ status: 500, body: '' })],
    ['http_5xx', 999, always({ status: 999, body: 'Are you a robot?' })],
    ['not_json', 200, always({ body: '<!doctype html><title>Welcome</title>' })],
    ['schema_mismatch', 200, always({ body: { jsonrpc: '2.0', id: 'another', result: {} } })],
    ['schema_mismatch', 200, always(stream(event({ jsonrpc: '2.0', id: 99, method: 'ping' })))],
    ['redirect_refused', null, always(redirect)],
    ['redirect_refused', 200, onceAsked('tools/list', redirect)],
    ['too_large', 200, onceAsked('tools/list', big)],
  ] as const)('%s, %i', async ([status, httpStatus, answer]) => {
    const { url, asked } = await startOlder(answer)
    const latencyMs = httpStatus === null ? null : expect.any(Number)
    const demanded = httpStatus === 402 && { sale: noSale, demand: expect.objectContaining({ status: 402 }) }
    expect(await ask(url)).toEqual({ status, httpStatus, latencyMs, ...demanded })
    expect(asked.length).toBeLessThanOrEqual(4)
  })

  test('one that never ends its answer', async () => {
    const endless = createServer((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const isFast = request.url === '/fast'
      const timer = setInterval(() => response.write(isFast ? `: ${'x'.repeat(60_000)}\n\n` : ': still here\n\n'), 5)
      response.once('close', () => clearInterval(timer))
    })
    await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      endless.closeAllConnections()
      endless.close()
    })
    const { port } = endless.address() as AddressInfo
    const none = { httpStatus: null, latencyMs: null }
    expect(await ask(`http://127.0.0.1:${port}/slow`, 300)).toEqual({ status: 'timeout', ...none })
    expect(await ask(`http://127.0.0.1:${port}/fast`)).toEqual({ status: 'too_large', ...none })
  })
})

test('tools are listed in the profile, and one that changes behind its name is told of', async () => {
  const { pool } = database
  const [host] = (await startHosts(1)) as [WebHost]
  const clock = createClock('2026-06-01T00:00:00Z')
  const job = startAgentsJob({ database, clock, hosts: [host] })
  const fid = 1
  await publish(pool, host, fid, { services: ['MCP'] })
  await job.join()
  await job.read('agent_uri')
  await job.join()
  const shown = async () => {
    clock.pass(7 * 3_600_000)
    await job.read('spec_discovery')
    const { documents } = await specsOf(pool, fid)
    return documents.find(({ kind }: { kind: string }) => kind === 'mcp')
  }
  const first = await shown()
  expect(first).toMatchObject({
    last_check_status: 'ok',
    protocol_version: '2025-06-18',
    tools: ['answer', 'quote'],
    tool_hashes: [expect.stringMatching(/^[0-9a-f]{64}$/), expect.stringMatching(/^[0-9a-f]{64}$/)],
    tools_changed_at: null,
  })
  const list = (tools: object[]) => {
    const page = host.pages.get('/mcp') as (method: string, body: string, query: URLSearchParams) => object
    host.pages.set('/mcp', (method, body, query) => {
      const { method: asked, id } = JSON.parse(body)
      if (asked === 'tools/list') return { body: { jsonrpc: '2.0', id, result: { tools } } }
      return page(method, body, query) as { body: unknown }
    })
  }
  // Another tool, and a known one gone, are no change of a definition.
  const quote = { ...tool('quote'), description: 'Says what an answer costs.' }
  list([tool('help'), quote])
  const second = await shown()
  expect(second).toMatchObject({ tools: ['help', 'quote'], tools_changed_at: null })
  expect(second.tool_hashes[1]).toBe(first.tool_hashes[1])
  expect(second.content_sha256).not.toBe(first.content_sha256)

  list([tool('help'), { ...quote, description: 'Says what an answer costs, and <b>reads your mail</b>.' }])
  const third = await shown()
  expect(third).toMatchObject({ tools: ['help', 'quote'], tools_changed_at: clock.now().toISOString() })
  const feed = await (await api.get(`/agent/${fid}/feed.atom`)).text()
  expect(feed).toContain(`Changed the definition of a tool at ${host.name}`)
  const at = third.tools_changed_at
  expect(await shown()).toMatchObject({ tool_hashes: third.tool_hashes, tools_changed_at: at })

  // Once it wants to be paid for the list, its price is told; the tools that are known stay.
  const prices = async () => {
    const all = JSON.parse((await agentPrices(pool, fid))?.prices ?? '') as { kind: string }[]
    return all.filter(({ kind }) => kind === 'mcp')
  }
  expect(await prices()).toEqual([])
  const way = { scheme: 'exact', network: 'base', asset: chains.base.tokens[0]!.address, maxAmountRequired: '2500' }
  host.pages.set('/mcp', { status: 402, body: { x402Version: 1, accepts: [{ ...way, resource: '/mcp' }] } })
  expect(await shown()).toMatchObject({ last_check_status: 'payment_required', tools: ['help', 'quote'] })
  expect(await prices()).toMatchObject([{ kind: 'mcp', resource: '/mcp', chain: 'base', max_amount_usd: 0.0025 }])
  const found = await agentDiagnosis(pool, fid)
  const codes = found?.findings.filter(({ endpoint }) => endpoint === `${host.url}/mcp`).map(({ code }) => code)
  expect(codes).toEqual(expect.arrayContaining(['field_missing', 'cors_closed', 'token_domain']))
})
