import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chains } from '../../../config/chains.ts'
import { registryOf } from '../../../enrichment/networks.ts'
import { referenceIn } from '../../../enrichment/specs/back-reference.ts'
import { parsed } from '../../../enrichment/specs/content.ts'
import { readContent, type SpecKind } from '../../../enrichment/specs/kinds.ts'
import { fixture, readFixture } from '../../support/fixture.ts'
import { parsesTaken } from '../../support/measures/cpu.ts'

const recorded = (file: string): unknown => fixture(`sources/${file}`)

const kinds: readonly SpecKind[] = ['a2a', 'mcp', 'openapi', 'x402']
const kindsOf = (value: unknown) => kinds.filter((kind) => readContent[kind](value) !== undefined)

test.each([
  ['agent-card.a2a-v1-spec-sample.json', 'a2a', 'GeoSpatial Route Planner Agent', '1.2.0', 2],
  ['agent-card.arcabot.json', 'a2a', 'Arca', '0.4.0', 4],
  ['agent-card.rugsense.json', 'a2a', 'RugSense', '1.1.0', 7],
  ['agent-card.tensorfeed.json', 'a2a', 'TensorFeed', '1.0.0', 6],
  ['agent.tensorfeed.json', 'a2a', 'TensorFeed', '1.0.0', 6],
  ['agent-card.three-ws.json', 'a2a', 'three.ws', '1.5.1', 8],
] as const)('%s is an agent card and nothing else', (file, kind, title, version, skills) => {
  const value = recorded(`spec_discovery/${file}`)
  expect(kindsOf(value)).toEqual([kind])
  const content = readContent[kind](value)
  expect(content).toMatchObject({ title, version, tools: [], pathCount: null })
  expect(content?.skills).toHaveLength(skills)
})

test.each([
  ['openapi.rugsense.json', 'openapi', 'RugSense', '1.0.0', 8],
  ['x402.skim402.json', 'x402', null, '2', 24],
  ['x402.discovery-resources.v2-spec.json', 'x402', null, '2', 1],
  ['x402.payment-required.v2-spec.json', 'x402', null, '2', 1],
] as const)('%s is told by its kind, with how much it offers', (file, kind, title, version, pathCount) => {
  const value = recorded(`spec_discovery/${file}`)
  expect(kindsOf(value)).toEqual([kind])
  expect(readContent[kind](value)).toMatchObject({ title, version, skills: [], tools: [], pathCount })
})

test('registration files and error messages are no documents of any kind', () => {
  for (const name of ['arcabot', 'mandate', 'three-ws']) {
    expect(kindsOf(recorded(`erc8004_registration/agent-registration.${name}.json`))).toEqual([])
  }
  for (const value of [null, [], 'x', {}, { name: 'x' }, { detail: 'Not Found' }, { error: 'x', version: 1 }]) {
    expect(kindsOf(value)).toEqual([])
  }
})

test('both drafts of an MCP server card are read, tools included', () => {
  const older = { serverInfo: { name: 'ada', version: '2' }, protocolVersion: '2025-06-18', tools: [{ name: 'add' }] }
  const newer = { name: 'io.ada/adder', title: 'Adder', version: '1.1', remotes: [{ type: 'streamable-http' }] }
  expect(readContent.mcp(older)).toEqual({
    title: 'ada',
    version: '2',
    skills: [],
    tools: ['add'],
    pathCount: null,
    details: {},
  })
  expect(readContent.mcp(newer)).toMatchObject({ title: 'Adder', version: '1.1', tools: [] })
  expect(readContent.mcp({ ...older, tools: 'dynamic' })?.tools).toEqual([])
})

const at = (url: string, binding: string | null = null, name: string | null = null, version: string | null = null) => {
  return { url, name, binding, version }
}
const shop = 'https://shop.test'

test.each([
  [
    'a2a__01-endpoint-for-url.json',
    { title: 'Echo', skills: ['echo'], details: { interfaces: [at(`${shop}/a2a/message`)] } },
  ],
  [
    'a2a__03-snake-case.json',
    {
      title: 'Weather',
      version: '1.0.0',
      skills: ['Weather Lookup'],
      details: {
        interfaces: [at(`${shop}/`, 'JSONRPC')],
        skills: [{ name: 'Weather Lookup', id: 'w', tags: [] }],
      },
    },
  ],
  ['a2a__04-capabilities-for-skills.json', { title: 'Benchmarks', skills: ['text-model-benchmarks', 'change-feed'] }],
  [
    'mcp__01-capabilities-tools-list.json',
    {
      title: 'departures',
      tools: ['search_stops', 'get_next_departures'],
      details: { interfaces: [at(`${shop}/mcp`, 'streamable-http', 'departures')] },
    },
  ],
  ['mcp__03-capabilities-tools-map.json', { title: 'psy', tools: ['list_products', 'get_quote'] }],
  [
    'mcp__04-servers-list.json',
    { title: 'subnets', details: { interfaces: [at(`${shop}/mcp`, 'streamable-http', 'subnets')] } },
  ],
  [
    'mcp__06-mcpServers-map.json',
    { title: 'shop', details: { interfaces: [at(`${shop}/mcp`, 'streamable-http', 'shop')] } },
  ],
  ['mcp__08-many-tools.json', { title: 'big', details: { truncated: { tools: 129 } } }],
  ['openapi__09-swagger2.json', { title: 'Old API', pathCount: 1, details: { interfaces: [at(`${shop}/v1`)] } }],
] as const)('%s, as the world writes them, is read as it means', (file, content) => {
  const kind = file.slice(0, file.indexOf('__')) as SpecKind
  expect(readContent[kind](fixture(`documents/${file}`))).toMatchObject(content)
})

test('a description in YAML is read, with aliases within bounds; what is no description is not parsed', () => {
  const yaml = readFixture('documents/openapi__10-yaml.yaml')
  expect(readContent.openapi(parsed(Buffer.from(yaml)))).toMatchObject({ title: 'Pulse', pathCount: 1 })
  const bomb = Array.from({ length: 12 }, (_, n) => `a${n}: &a${n} [${`*a${n - 1},`.repeat(n && 9)}]`).join('\n')
  expect(parsed(Buffer.from(`openapi: 3.1.0\n${bomb}`))).toBeUndefined()
  expect(parsed(Buffer.from('openapi: 3.1.0\n  bad: [indent'))).toBeUndefined()
  expect(parsed(Buffer.from('title: not a description'))).toBeUndefined()
})

test('no text that claims to be a description in YAML keeps the process busy for long', () => {
  const head = 'openapi: 3.1.0\n'
  const lines = (count: number, line: (n: number) => string) =>
    head + Array.from({ length: count }, (_, n) => line(n)).join('\n')
  const texts = [
    lines(16_000, (n) => `k${n}:`),
    lines(5_000, (n) => `- &a${n} x\n- *a${n}`),
    lines(60_000, () => '@'),
    `${head}x: [a${','.repeat(60_000)}]`,
    `${head}x: ${'['.repeat(130_000)}`,
    `${head}x: ${'a'.repeat(500_000)}`,
  ]
  const taken = texts.filter((text) => parsed(Buffer.from(text)) !== undefined)
  expect(taken.map(({ length }) => length)).toEqual([])
  const read = () => texts.map((text) => parsed(Buffer.from(text)))
  expect(parsesTaken(100, () => texts, read)).toBeLessThan(100) // in times of a megabyte of JSON
  expect(parsed(Buffer.from(lines(2_000, (n) => `k${n}: one`)))).toHaveProperty('k1999', 'one')
  expect(parsed(Buffer.from(`${head}a: 1\na: 2`))).toEqual({ openapi: '3.1.0', a: 2 }) // as in JSON
})

test('tools and skills are read from lists, maps and groups, and lists that are cut are marked', () => {
  const toolsOf = (tools: unknown, around: object = {}) => readContent.mcp({ name: 'x', tools, ...around })?.tools
  expect(toolsOf({ add: {}, sub: 'Subtracts.', listChanged: true })).toEqual(['add', 'sub'])
  expect(toolsOf({ read: ['a', { name: 'b' }], write: [{ id: 'c' }] })).toEqual(['a', 'b', 'c'])
  expect(toolsOf([{ name: 'read', tools: ['a', 'b'] }, 'c'])).toEqual(['a', 'b', 'c'])
  expect(toolsOf({ count: 2, list: ['a', 'a', 'b'] })).toEqual(['a', 'b'])
  expect(toolsOf({ listChanged: false }, { serverInfo: { name: 'x' } })).toEqual([])
  const servers = [
    { server: { name: 'a', remotes: [{ type: 'sse', url: `${shop}/sse` }], tools: ['t'] } },
    { name: 'b' },
  ]
  expect(readContent.mcp({ servers })).toMatchObject({
    title: null,
    tools: ['t'],
    details: { interfaces: [at(`${shop}/sse`, 'sse', 'a')] },
  })
  const card = { name: 'x', preferredTransport: 'JSONRPC', protocolVersion: '0.3.0', url: `${shop}/a` }
  const skills = Array.from({ length: 51 }, (_, n) => ({ id: `s${n}`, name: `Skill ${n}`, tags: ['a', 'a', 'b'] }))
  const security_schemes = { key: { type: 'apiKey' }, open: { openIdConnectSecurityScheme: { url: '/' } } }
  const additionalInterfaces = [
    { url: `${shop}/grpc`, transport: 'GRPC' },
    { url: `${shop}/a`, transport: 'JSONRPC' },
  ]
  expect(readContent.a2a({ ...card, additionalInterfaces, skills, security_schemes })).toMatchObject({
    skills: skills.slice(0, 50).map(({ name }) => name),
    details: {
      interfaces: [at(`${shop}/a`, 'JSONRPC', null, '0.3.0'), at(`${shop}/grpc`, 'GRPC', null, '0.3.0')],
      security: [
        { name: 'key', type: 'apiKey' },
        { name: 'open', type: 'openIdConnect' },
      ],
      truncated: { skills: 51 },
    },
  })
  expect(readContent.a2a({ ...card, skills })?.details.skills?.[0]).toEqual({
    name: 'Skill 0',
    id: 's0',
    tags: ['a', 'b'],
  })
  expect(readContent.openapi({ openapi: '3.1.0', info: { title: 'Hooks' }, webhooks: {} })?.pathCount).toBe(0)
  expect(readContent.openapi({ openapi: '3.1.0', info: { title: 'Nothing' } })).toBeUndefined()
})

test('a domain names a token by chain, registry and id, whatever type the id has; zero is an id', () => {
  const arca = recorded('erc8004_registration/agent-registration.arcabot.json')
  const registries = new Set(['base', 'optimism', 'ethereum'].map((name) => registryOf(chains[name as 'base'])))
  const has = (chain: 'base' | 'optimism' | 'ethereum', agentId: string) =>
    referenceIn(arca, { held: [{ registry: registryOf(chains[chain]), agentId }], isCut: false, registries })
  const listed = (arca as { registrations: { agentId: number; agentRegistry: string }[] }).registrations
  const idOn = (chainId: number) =>
    String(listed.find(({ agentRegistry }) => agentRegistry.startsWith(`eip155:${chainId}:`))?.agentId)
  const own = [has('ethereum', idOn(1)), has('base', idOn(8453)), has('optimism', '0')]
  expect(own).toEqual(['confirmed', 'confirmed', 'confirmed'])
  expect([has('base', '999999'), has('ethereum', '0')]).toEqual(['contradicted', 'contradicted'])

  const registry = 'eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432'
  const elsewhere = `${registry.slice(0, -1)}1`
  const of = (registrations: unknown, agentId: string, isCut = false) => {
    const held = [{ registry: registry.toLowerCase(), agentId }]
    return referenceIn({ registrations }, { held, isCut, registries: new Set([registry.toLowerCase()]) })
  }
  expect(of([{ agentId: '7', agentRegistry: registry }], '7')).toBe('confirmed')
  expect(of([{ agentId: '8', agentRegistry: registry }], '7')).toBe('contradicted')
  // Of a holder of more than was looked at, and of registries that nobody here knows, there is nothing to say.
  expect(of([{ agentId: '8', agentRegistry: registry }], '7', true)).toBe('missing')
  expect(of([{ agentId: '7', agentRegistry: elsewhere }], '7')).toBe('missing')
  expect(of([null, 5, { agentId: null, agentRegistry: registry }], '0')).toBe('missing')
  expect(of('everything', '7')).toBeUndefined()
})

test('no JSON is too odd to be told from a document', () => {
  const key = fc.constantFrom(
    'name',
    'skills',
    'url',
    'serverInfo',
    'tools',
    'openapi',
    'info',
    'paths',
    'version',
    'items',
  )
  const text = fc.string({ unit: 'binary', maxLength: 20 })
  const leaf = fc.oneof(text, fc.jsonValue({ maxDepth: 1 }))
  const entry = fc.dictionary(key, leaf, { maxKeys: 4 })
  const any = fc.dictionary(key, fc.oneof(leaf, entry, fc.array(entry, { maxLength: 4 })), { maxKeys: 8 })
  const card = fc.record({
    name: text,
    url: text,
    version: leaf,
    skills: fc.array(fc.oneof(leaf, entry), { maxLength: 4 }),
  })
  const info = fc.record({ title: text, version: leaf })
  const server = fc.record({ serverInfo: fc.record({ name: text }), tools: fc.array(leaf, { maxLength: 4 }) })
  const file = fc.oneof(any, card, server, fc.record({ openapi: fc.constant('3.1.0'), info, paths: entry }))
  fc.assert(
    fc.property(file, (value) => {
      const read = JSON.stringify([
        ...kinds.map((kind) => readContent[kind](value)),
        referenceIn(value, { held: [], isCut: false, registries: new Set() }),
      ])
      expect(read).not.toMatch(/(?<!\\)(\\\\)*\\u(0000|d[89a-f])/i)
    }),
    { numRuns: 500 },
  )
})
