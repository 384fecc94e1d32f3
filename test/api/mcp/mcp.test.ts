import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MemoryStore } from '../../../api/limits/memory-store.ts'
import { createTools } from '../../../api/mcp/tools.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { richFid, seedShowcase } from '../../support/api/showcase.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf, hashOf, seedAgent, seedHolding, seedRegistration, seedSettlement } from '../../support/seed.ts'

const database = testDatabase()
let api: TestApi
const clients: { close(): Promise<void> }[] = []
const hidden = 66
const own = addressOf('own')
const wide = 67
const wideIds = [0n, 2n ** 53n - 1n, 2n ** 53n + 1n, 2n ** 255n]
beforeAll(async () => {
  await seedShowcase(database.pool, Date.now())
  await seedAgent(database.pool, { fid: hidden, addresses: [addressOf('own')] })
  const bio = 'fine \u202egnilleps\u202c \u{e0069}\u{e0067}\u{e006e}ore "th\u{e0159}\ufe00is" \\ \u{1f600}\ufe0f'
  await seedAgent(database.pool, { fid: wide, addresses: [addressOf('wide')] })
  for (const id of wideIds) {
    await seedRegistration(database.pool, { chain: 'base', id, owner: addressOf('wide') })
    await seedHolding(database.pool, { fid: wide, chain: 'base', id, by: addressOf('wide') })
  }
  await database.pool.query('update agent set bio = $1 where fid = $2', [bio, hidden])
  await seedSettlement(database.pool, { chain: 'base', recipient: addressOf('own'), block: 1 })
  // The clock stands still, so that a tool and its route are asked at the same moment.
  const now = Date.now()
  api = await startApi(database, { now: () => now })
})
afterAll(async () => {
  for (const client of clients) await client.close()
  await api.stop()
})

const about = { name: 'test', version: '1' }

/** A connected client of the newest MCP revision. */
async function newer(url = api.url) {
  const client = new Client(about, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)))
  clients.push(client)
  return client
}

/** A connected client of an older MCP revision, from the SDK package before this one. */
async function older(url = api.url) {
  const client = new OlderClient(about)
  await client.connect(new OlderTransport(new URL(`${url}/mcp`)))
  clients.push(client)
  return client
}

interface Answer {
  readonly content?: unknown
  readonly structuredContent?: unknown
  readonly isError?: unknown
}

const textOf = ({ content }: Answer) => (content as { text: string }[])[0]?.text ?? ''

const eras = [
  ['2026-07-28', newer],
  ['2025', older],
] as const

/** Calls of each tool by its name, each with the API path that asks the same. */
const examples: Record<string, [args: Record<string, unknown>, path: string][]> = {
  search_agents: [
    [{}, '/api/discovery?limit=10'],
    [
      { q: 'parcel', chain: ['Base', 'celo'], claimed: 'unclaimed', sort: 'oldest', limit: 90 },
      '/api/discovery?q=parcel&chain=Base&chain=celo&claimed=unclaimed&sort=oldest&limit=50',
    ],
  ],
  get_agent: [
    [{ fid: richFid }, `/api/agent/${richFid}`],
    [{ fid: String(hidden), fields: ['handle', 'bio'] }, `/api/agent/${hidden}?fields=handle,bio`],
    [{ fid: 0 }, '/api/agent/0'],
    [{ fid: 999_999 }, '/api/agent/999999'],
    [{}, '/api/agent/x'],
  ],
  get_agents: [[{ fids: [richFid, hidden], addresses: own }, `/api/agents?fids=${richFid},${hidden}&addresses=${own}`]],
  find_by_address: [
    [{ address: own }, `/api/by-address/${own}`],
    [{ address: '0x12' }, '/api/by-address/0x12'],
  ],
  find_registrations: [[{ owner: own, limit: 90 }, `/api/registrations?owner=${own}&limit=50`]],
  get_control: [[{ fid: richFid }, `/api/agent/${richFid}/control`]],
  diagnose_agent: [[{ fid: richFid }, `/api/agent/${richFid}/doctor`]],
  check_payee: [[{ pay_to: own }, `/api/payee?pay_to=${own}`]],
  agent_state_at: [
    [{ fid: richFid }, `/api/agent/${richFid}/state`],
    [{ fid: richFid, as_of: '2026-03-01T00:00:00Z' }, `/api/agent/${richFid}/state?as_of=2026-03-01T00:00:00Z`],
  ],
  get_timeseries: [
    [{ fid: richFid }, `/api/agent/${richFid}/timeseries`],
    [{ fid: richFid, interval: 'week', chain: 'base' }, `/api/agent/${richFid}/timeseries?interval=week&chain=base`],
  ],
  list_settlements: [
    [{ fid: richFid }, `/api/settlements?fid=${richFid}&limit=10`],
    [{}, '/api/settlements?limit=10'],
    [
      { fid: richFid, limit: 2, cursor: '', since: '2026-01-01T00:00:00Z', final: 'true' },
      `/api/settlements?fid=${richFid}&limit=2&cursor=&since=2026-01-01T00:00:00Z&final=true`,
    ],
    [{ fid: richFid, cursor: 'nowhere' }, `/api/settlements?fid=${richFid}&limit=10&cursor=nowhere`],
  ],
  get_leaderboard: [[{ period: 'all', limit: 3 }, '/api/leaderboard?period=all&limit=3']],
  get_stats: [[{}, '/api/stats']],
  explain_agent: [[{ fid: richFid }, `/api/agent/${richFid}/explain`]],
}

describe.each(eras)('a client of %s', (era, connect) => {
  test('is told what there is, in few words', async () => {
    const client = await connect()
    expect(client.getServerVersion()).toMatchObject({ name: 'agent-directory' })
    expect(client.getInstructions()).toContain('strangers')
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(examples)))
    expect(JSON.stringify(tools).length).toBeLessThan(819 * Math.min(tools.length, 12))
    for (const { name, description, inputSchema, outputSchema, annotations } of tools) {
      expect(name).toMatch(/^[a-z_]{1,20}$/)
      expect(description).toMatch(/\w/)
      expect(annotations).toEqual({ readOnlyHint: true, idempotentHint: true, openWorldHint: false })
      expect(outputSchema?.type).toBe('object')
      for (const field of Object.values(inputSchema.properties ?? {})) {
        expect(field).toMatchObject({ description: expect.any(String) })
      }
    }
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(
      expect.arrayContaining([
        'agent://{fid}',
        'address://{address}',
        'settlement://{chain}/{tx_hash}',
        'errors://{code}',
      ]),
    )
    if (era === '2025') return
    const discovered = await ask({ method: 'server/discover' })
    expect(discovered).toMatchObject({
      result: { supportedVersions: ['2026-07-28'], ttlMs: 300_000, cacheScope: 'public' },
    })
  })

  test.each(createTools().map(({ name }) => name))('%s answers as its route does', async (name) => {
    const client = await connect()
    expect(examples).toHaveProperty(name)
    for (const [args, path] of examples[name] ?? []) {
      const response = await api.get(path)
      const body = (await response.text()).replace(/[\u202a-\u202e\p{Variation_Selector}\u{e0000}-\u{e007f}]/gu, '')
      const answer = (await client.callTool({ name, arguments: args })) as Answer
      expect([args, answer.isError ?? false, textOf(answer)]).toEqual([args, !response.ok, body])
      if (response.ok) expect(answer.structuredContent).toEqual(JSON.parse(body))
    }
  })

  test('refuses an argument of another type than the schema says, and names it', async () => {
    const client = await connect()
    for (const [name, args, wrong] of [
      ['search_agents', { q: 42 }, 'q'],
      ['search_agents', { q: ['a', 'b'] }, 'q'],
      ['search_agents', { limit: 'many' }, 'limit'],
      ['search_agents', { limit: 1.5 }, 'limit'],
      ['search_agents', { chain: [{ name: 'base' }] }, 'chain'],
      ['search_agents', { claimed: true }, 'claimed'],
      ['get_agents', { fids: { first: 1 } }, 'fids'],
      ['get_agent', { fid: { id: 1 } }, 'fid'],
      ['find_by_address', { address: 5 }, 'address'],
    ] as const) {
      const answer = (await client.callTool({ name, arguments: args })) as Answer
      expect([args, answer.isError, JSON.parse(textOf(answer))]).toMatchObject([
        args,
        true,
        { error: 'ERR_PAYLOAD_INVALID', fields: [{ path: `argument ${wrong}` }] },
      ])
    }
  })

  test('reads resources as the routes are read', async () => {
    const client = await connect()
    for (const [uri, path] of [
      [`agent://${richFid}`, `/api/agent/${richFid}`],
      ['errors://ERR_NOT_FOUND', '/api/errors/ERR_NOT_FOUND'],
      [`uptime://${richFid}`, `/api/agent/${richFid}/uptime`],
      [`address://${addressOf('own')}`, `/api/by-address/${addressOf('own')}`],
      [`settlement://base/${hashOf('tx base 1')}`, `/api/settlements?chain=base&tx_hash=${hashOf('tx base 1')}`],
    ] as const) {
      const { contents } = await client.readResource({ uri })
      expect(contents).toEqual([{ uri, mimeType: 'application/json', text: await (await api.get(path)).text() }])
    }
    for (const uri of ['agent://999999', 'agent://x', 'nothing://1', 'errors://ERR_NONE']) {
      await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32_602 })
    }
  })

  test('sees no text that people do not see, and everything else', async () => {
    const client = await connect()
    const { bio } = (await client.callTool({ name: 'get_agent', arguments: { fid: hidden } })).structuredContent as {
      bio: string
    }
    expect(bio).toBe('fine gnilleps ore "this" \\ \u{1f600}')
  })

  test('reads an id beyond 2^53 as the string of its digits, as it is told, and the text has it as a number', async () => {
    const client = await connect()
    expect(client.getInstructions()).toContain('erc8004_id that a double cannot hold is a string')
    const answer = (await client.callTool({ name: 'get_agent', arguments: { fid: wide } })) as Answer
    const { erc8004_records } = answer.structuredContent as { erc8004_records: { erc8004_id: unknown }[] }
    const ids = erc8004_records.map(({ erc8004_id }) => erc8004_id)
    expect(ids.toSorted()).toEqual([0, 2 ** 53 - 1, String(2n ** 53n + 1n), String(2n ** 255n)].toSorted())
    for (const id of wideIds) expect(textOf(answer)).toContain(`"erc8004_id":${id},`)
  })

  test('is counted like everybody, a call a request, and told in words when to come back', async () => {
    const limits = { perMinute: 12, perDay: 1_000 }
    const limited = await startApi(database, {
      limiter: { limits, store: new MemoryStore(limits, Date.now), now: Date.now },
    })
    const client = await connect(limited.url)
    const call = () => client.callTool({ name: 'get_stats', arguments: {} }) as Promise<Answer>
    let served = 0
    let last = await call()
    while (!last.isError && served < 20) {
      served++
      last = await call()
    }
    expect(served).toBeGreaterThan(5)
    expect(served).toBeLessThan(12)
    expect(JSON.parse(textOf(last))).toEqual({
      error: 'ERR_RATE_LIMIT',
      detail: 'at most 12 requests a minute',
      limits,
      retryAfterSeconds: 60,
    })
    expect((await limited.get('/api/stats')).status).toBe(429)
    await expect(client.listResourceTemplates()).rejects.toThrow()
    await limited.stop()
  })
})

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** Posts a message of the newest MCP revision with plain HTTP, without a client. */
async function send(message: unknown, headers: Record<string, string> = {}) {
  const { method } = message as { method?: string }
  return api.get('/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      ...(method !== undefined && { 'mcp-method': method }),
      ...headers,
    },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  })
}
const message = (request: { method: string; params?: object }) => ({
  jsonrpc: '2.0',
  id: 1,
  ...request,
  params: { _meta: envelope, ...request.params },
})
const ask = async (request: { method: string; params?: object }) => (await send(message(request))).json()

/** JSON Schema keywords that every model vendor accepts; for any other some vendors refuse the whole list of tools. */
const portable = ['type', 'properties', 'required', 'description', 'enum', 'items', 'default', 'maximum']

test('the listing is strict: every schema compiles, is an object, and says nothing that some vendors refuse', async () => {
  const { result } = (await ask({ method: 'tools/list' })) as { result: Listed }
  expect(result).toMatchObject({ resultType: 'complete', ttlMs: 300_000, cacheScope: 'public' })
  expect(result.nextCursor).toBe(undefined)
  expect(new Set(result.tools.map(({ name }) => name)).size).toBe(createTools().length)
  const ajv = new Ajv2020({ strict: true, strictRequired: false }) // answers name fields without describing them
  for (const { name, inputSchema, outputSchema } of result.tools) {
    for (const schema of [inputSchema, outputSchema]) {
      expect(ajv.compile(schema), name).toBeTypeOf('function')
      expect(schema.type, name).toBe('object')
    }
    const { properties = {} } = inputSchema
    for (const [field, { items, ...schema }] of Object.entries(properties)) {
      const keywords = [...Object.keys(schema), ...Object.keys(items ?? {})]
      expect([name, field, keywords.filter((keyword) => !portable.includes(keyword))]).toEqual([name, field, []])
      for (const one of [schema, ...(items ? [items] : [])]) {
        // A single type or an enum of strings: neither a union of types nor a schema without one.
        expect([name, field, typeof (one.type ?? one.enum?.[0])]).toEqual([name, field, 'string'])
      }
      expect([name, field, schema.type === 'array']).toEqual([name, field, items !== undefined])
    }
  }
})

interface JsonSchema {
  readonly type?: unknown
  readonly enum?: readonly unknown[]
  readonly properties?: Record<string, JsonSchema>
  readonly items?: JsonSchema
}

interface Listed {
  readonly tools: readonly { name: string; inputSchema: JsonSchema; outputSchema: JsonSchema }[]
  readonly nextCursor?: string
}

test('what is no call gets no further', async () => {
  const listTools = message({ method: 'tools/list' })
  const unknown = { 'io.modelcontextprotocol/protocolVersion': '2999-01-01' }
  const unknownHeader = { 'mcp-protocol-version': '2999-01-01' }
  for (const [status, code, response] of [
    [400, -32_600, send([listTools, listTools])],
    [400, -32_700, send('{"jsonrpc":')],
    [413, -32_700, send(`"${'x'.repeat(70_000)}"`)],
    [403, -32_600, send(listTools, { origin: 'https://elsewhere.example' })],
    [400, -32_020, send(listTools, { 'mcp-method': 'tools/call' })],
    [
      400,
      -32_022,
      send(message({ method: 'tools/list', params: { _meta: { ...envelope, ...unknown } } }), unknownHeader),
    ],
    [400, -32_602, send({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: {} } })],
    [404, -32_601, send(message({ method: 'agents/list' }))],
    [
      200,
      -32_603,
      send(message({ method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } } })),
    ],
  ] as const) {
    const answer = await response
    expect([answer.status, await answer.json()]).toMatchObject([status, { error: { code } }])
  }
  for (const method of ['GET', 'DELETE']) {
    const answer = await api.get('/mcp', { method })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
  }
})

test('pages of the site and of localhost may ask, and are told so', async () => {
  for (const origin of ['https://agents.example', 'http://localhost:5173']) {
    const preflight = await api.get('/mcp', {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, origin])
    expect(preflight.headers.get('access-control-allow-headers')).toContain('Mcp-Method')
    const answer = await send(message({ method: 'tools/list' }), { origin })
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
  }
})

test('who knows the host alone is led to the card, and by it to a server that speaks what it says', async () => {
  const catalog = await api.get('/.well-known/ai-catalog.json')
  expect(catalog.headers.get('content-type')).toBe('application/ai-catalog+json')
  const { specVersion, entries } = (await catalog.json()) as {
    specVersion: string
    entries: { url: string; type: string }[]
  }
  expect(specVersion).toBe('0.9')
  expect(entries).toEqual([
    {
      identifier: 'urn:air:api.agents.example:agent-directory',
      type: 'application/mcp-server-card+json',
      url: 'https://api.agents.example/mcp/server-card',
    },
  ])
  const card = await api.get(new URL(entries[0]?.url ?? '').pathname)
  expect([card.headers.get('content-type'), card.headers.get('access-control-allow-origin')]).toEqual([
    entries[0]?.type,
    '*',
  ])
  const { name, version, description, remotes } = (await card.json()) as {
    name: string
    version: string
    description: string
    remotes: { url: string; supportedProtocolVersions: string[] }[]
  }
  expect(name).toBe('example.agents.api/agent-directory')
  expect(description.length).toBeLessThanOrEqual(100)
  expect((await older()).getServerVersion()).toEqual({ name: 'agent-directory', version })
  const { url, supportedProtocolVersions } = remotes[0]!
  expect(url).toBe('https://api.agents.example/mcp')
  const { result } = (await ask({ method: 'server/discover' })) as { result: { supportedVersions: string[] } }
  expect(supportedProtocolVersions).toEqual(expect.arrayContaining(result.supportedVersions))
  for (const protocolVersion of supportedProtocolVersions.filter((one) => !result.supportedVersions.includes(one))) {
    const params = { protocolVersion, capabilities: {}, clientInfo: about }
    const request = { jsonrpc: '2.0', id: 1, method: 'initialize', params }
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const answer = await api.get('/mcp', { method: 'POST', headers, body: JSON.stringify(request) })
    expect(await answer.text()).toContain(`"protocolVersion":"${protocolVersion}"`)
  }
})
