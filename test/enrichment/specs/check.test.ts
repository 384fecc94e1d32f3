import { expect, onTestFinished, test } from 'vitest'
import type { WebHost } from '../../../devnet/hosts/web-host.ts'
import { type AgentHosts, createAgentHosts } from '../../../enrichment/agent-hosts.ts'
import { checkUp } from '../../../enrichment/specs/check-up.ts'
import type { KnownDocument } from '../../../enrichment/specs/document-standing.ts'
import { readerVersion } from '../../../enrichment/specs/kinds.ts'
import { createDoor } from '../../../net/door.ts'
import { parseEgressAllow } from '../../../net/egress.ts'
import { startHosts } from '../../derive/agents/job.ts'
import { fixture } from '../../support/fixture.ts'

const impatient = { intervalMs: 0, maxWaiting: 100, maxWaitMs: 10_000 }
const card = { name: 'Ada', url: 'https://a.shop.xyz', skills: [] }

type Services = readonly (readonly [string, string])[]

/** Checks services, given as name and endpoint; `found`: kind, path and status of each place that was checked. */
const lookAt = (hosts: readonly WebHost[], ...services: Services) => lookAgain(hosts, [], ...services)

/** The same for an agent with known documents. */
const lookAgain = (hosts: readonly WebHost[], known: readonly KnownDocument[], ...services: Services) =>
  lookInTurn('1', hosts, known, services)

async function lookInTurn(
  turn: string,
  hosts: readonly WebHost[],
  known: readonly KnownDocument[],
  services: Services,
  through = (agentHosts: AgentHosts) => agentHosts,
) {
  const egressAllow = parseEgressAllow(hosts.map(({ name }) => name).join())
  const door = createDoor({ userAgent: 'test/1.0 (+https://agents.shop.xyz)', egressAllow, politeness: impatient })
  onTestFinished(door.close)
  const look = await checkUp(through(createAgentHosts({ door, egressAllow, now: () => new Date() })), {
    services: services.map(([name, endpoint]) => ({ name, endpoint, version: null, contradicted: false })),
    profileUrl: null,
    holdings: { held: [], isCut: false, registries: new Set() },
    known,
    turn,
  })
  const found = look.checks.map(({ candidate, status }) => `${candidate.kind} ${candidate.url.pathname} ${status}`)
  return { ...look, found }
}

test('an endpoint that wants to be paid, or to know who asks, is alive; a page that merely exists is not', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  host.pages.set('/pay', { status: 402, body: { x402Version: 1, accepts: [] } })
  host.pages.set('/mcp', { status: 401, body: 'who are you?' })
  for (const path of ['/openapi.json', '/.well-known/x402']) host.pages.set(path, { body: '<!doctype html>' })
  const { found } = await lookAt([host], ['x402', `${host.url}/pay`], ['MCP', `${host.url}/mcp`])
  expect(found).toEqual(
    expect.arrayContaining([
      'x402 /pay payment_required',
      'mcp /mcp auth_required',
      'openapi /openapi.json not_json',
      'openapi /.well-known/openapi.json not_found',
    ]),
  )
})

test('what a reader fails at is a document of another form, and the places next to it are looked at', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  host.pages.set('/pay', { status: 402, body: { x402Version: 1, accepts: [] } })
  host.pages.set('/card.json', { body: card })
  const { found } = await lookInTurn(
    '1',
    [host],
    [],
    [
      ['x402', `${host.url}/pay`],
      ['a2a', `${host.url}/card.json`],
    ],
    (hosts) => ({
      ...hosts,
      fetch: async (url, options) => {
        const answer = await hosts.fetch(url, options)
        if (url.pathname !== '/pay') return answer
        return Object.defineProperty({ ...answer }, 'body', { get: () => String({ toString: 1 }) }) // throws
      },
    }),
  )
  expect(found).toEqual(expect.arrayContaining(['x402 /pay schema_mismatch', 'a2a /card.json ok']))
})

test('a redirect is followed on the same site and refused to another', async () => {
  const [host, other] = (await startHosts(2)) as [WebHost, WebHost]
  host.pages.set('/here.json', { status: 301, headers: { location: '/card.json' }, body: '' })
  host.pages.set('/card.json', { body: card })
  other.pages.set('/card.json', { body: card })
  host.pages.set('/there.json', { status: 302, headers: { location: 'https://a.shop.xyz/card.json' }, body: '' })
  const { found } = await lookAt([host, other], ['a2a', `${host.url}/here.json`], ['a2a', `${host.url}/there.json`])
  expect(found).toEqual(expect.arrayContaining(['a2a /here.json ok', 'a2a /there.json redirect_refused']))
})

test('a look is at four hosts at most, and each has its turn', async () => {
  const hosts = await startHosts(6)
  const services = hosts.map(({ url }) => ['gallery', url] as const)
  const counts = () => hosts.map(({ requests }) => requests.length)
  const { places } = await lookAt(hosts, ...services)
  expect(counts().filter((count) => count > 0)).toEqual([12, 12, 12, 12])
  expect(new Set([...places].map((place) => new URL(place.split(' ')[1]!).host)).size).toBe(6)
  for (let turn = 2; counts().includes(0); turn++) {
    expect(turn).toBeLessThan(50)
    await lookInTurn(String(turn), hosts, [], services)
  }
})

test('of more endpoints on a host than are asked at a time each has its turn', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  const services = Array.from({ length: 40 }, (_, n) => ['x402', `${host.url}/pay/${n}`] as const)
  const asked = () => new Set(host.requests.map(({ path }) => path).filter((path) => path.startsWith('/pay')))
  for (let turn = 1; asked().size < 40; turn++) {
    expect(turn).toBeLessThan(50)
    await lookInTurn(String(turn), [host], [], services)
  }
})

test('the documents of both of two hosts are found, wherever in their lists they lie', async () => {
  const hosts = (await startHosts(2)) as [WebHost, WebHost]
  const files = fixture('documents/host__01-two-hosts.json') as Record<string, object>
  hosts[0].pages.set('/.well-known/mcp.json', { body: files['a.shop.test/.well-known/mcp.json']! })
  hosts[1].pages.set('/.well-known/x402.json', { body: files['b.shop.test/.well-known/x402.json']! })
  const { found } = await lookAt(hosts, ['web', hosts[0].url], ['A2A', `${hosts[1].url}/a2a`])
  expect(found.filter((one) => one.endsWith(' ok')).sort()).toEqual([
    'mcp /.well-known/mcp.json ok',
    'x402 /.well-known/x402.json ok',
  ])
})

test('a host out of reach is asked once, and all it was to have counts as asked', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  host.faults.add({ kind: 'cut' }, { times: Number.POSITIVE_INFINITY })
  const { found } = await lookAt([host], ['a2a', `${host.url}/card.json`], ['mcp', `${host.url}/mcp`])
  expect(found).toEqual(['a2a /card.json connect_error', 'mcp /mcp connect_error'])
  expect(host.requests).toHaveLength(1)
})

test('the newer place of a card is enough; the older one is looked at when there is none', async () => {
  const [newer, older] = (await startHosts(2)) as [WebHost, WebHost]
  for (const host of [newer, older]) host.pages.set('/.well-known/agent.json', { body: card })
  newer.pages.set('/.well-known/agent-card.json', { body: card })
  const places = async (host: WebHost) => {
    const { found } = await lookAt([host], ['web', host.url])
    return found.filter((one) => one.startsWith('a2a'))
  }
  expect(await places(newer)).toEqual(['a2a /.well-known/agent-card.json ok'])
  expect(await places(older)).toEqual(['a2a /.well-known/agent-card.json not_found', 'a2a /.well-known/agent.json ok'])
})

const serverCard = { name: 'xyz.shop/ada', title: 'Ada', version: '3', remotes: [] }
const mcpOf = (found: readonly string[]) => found.filter((one) => one.startsWith('mcp'))

test('the card next to an endpoint tells of a server that does not answer', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  host.pages.set('/mcp/server-card', { body: serverCard })
  const { found, checks } = await lookAt([host], ['MCP', `${host.url}/mcp`])
  expect(mcpOf(found).slice(0, 2)).toEqual(['mcp /mcp not_found', 'mcp /mcp/server-card ok'])
  expect(checks.find(({ status }) => status === 'ok')?.found?.content).toMatchObject({ title: 'Ada', version: '3' })
})

test('a host’s catalog leads to a card on its own site and nowhere else', async () => {
  const [host, other] = (await startHosts(2)) as [WebHost, WebHost]
  const entry = (url: string) => ({ identifier: 'urn:air:shop.xyz:ada', type: 'application/mcp-server-card+json', url })
  const catalog = (...entries: object[]) => ({ body: { specVersion: '1.0', entries } })
  const another = { type: 'application/a2a-agent-card+json', url: '/agent.json' }
  host.pages.set('/.well-known/ai-catalog.json', catalog(another, entry('/somewhere/card')))
  host.pages.set('/somewhere/card', { body: serverCard })
  other.pages.set('/.well-known/ai-catalog.json', catalog(entry('https://a.shop.xyz/card')))
  const { found, checks } = await lookAt([host], ['web', host.url])
  expect(mcpOf(found).at(-1)).toBe('mcp /.well-known/ai-catalog.json ok')
  expect(checks.find(({ candidate, status }) => candidate.kind === 'mcp' && status === 'ok')?.found).toMatchObject({
    content: { title: 'Ada', version: '3' },
    version: { etag: null, lastModified: null }, // the card's version is not the catalog's
  })
  expect(mcpOf((await lookAt([other], ['web', other.url])).found)).toContain(
    'mcp /.well-known/ai-catalog.json schema_mismatch',
  )
})

test.each(['cat__01-mediaType', 'cat__02-type', 'cat__03-type-json-mcp'])(
  'the card that %s leads to is found',
  async (file) => {
    const [host] = (await startHosts(1)) as [WebHost]
    host.pages.set('/.well-known/mcp/catalog.json', { body: fixture(`documents/${file}.json`) as object })
    host.pages.set('/card.json', { body: { serverInfo: { name: 'Weather' }, tools: [{ name: 'today' }] } })
    const { found } = await lookAt([host], ['web', host.url])
    expect(mcpOf(found).at(-1)).toBe('mcp /.well-known/mcp/catalog.json ok')
  },
)

test('every card of a catalog is found: of servers and agents, in it, and in catalogs within it', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  const mcp = 'application/mcp-server-card+json; charset=utf-8'
  const inner = { entries: [{ identifier: 'urn:air:shop.xyz:c', type: mcp, data: { ...serverCard, title: 'In' } }] }
  const entries = [
    { identifier: 'urn:air:shop.xyz:a', type: mcp, url: '/a' },
    { identifier: 'urn:air:shop.xyz:b', type: mcp, url: '/b' },
    { identifier: 'urn:air:shop.xyz:gone', type: mcp, url: '/gone' },
    { identifier: 'urn:air:shop.xyz:agent', mediaType: 'Application/A2A-agent-card+json', url: '/agent' },
    { identifier: 'urn:air:shop.xyz:skill', type: 'application/agent-skills+zip', url: '/skill.zip' },
    { identifier: 'urn:air:shop.xyz:inner', type: 'application/ai-catalog+json', data: inner },
    { identifier: 'urn:air:shop.xyz:next', type: 'application/ai-catalog+json', url: '/next' },
    { identifier: 'urn:air:shop.xyz:self', type: 'application/ai-catalog+json', url: '/.well-known/ai-catalog.json' },
  ]
  host.pages.set('/.well-known/ai-catalog.json', { body: { specVersion: '0.9', entries } })
  host.pages.set('/next', { body: { specVersion: '0.9', entries: [{ identifier: 'd', url: '/d' }] } })
  for (const path of ['/a', '/b']) host.pages.set(path, { body: { ...serverCard, title: path } })
  host.pages.set('/agent', { body: card })
  host.pages.set('/d', { body: card })
  const services = ['web', host.url] as const
  const { checks } = await lookAt([host], services)
  const led = checks.flatMap(({ candidate, status, found }) =>
    status === 'ok' ? [[candidate.kind, candidate.url.href.slice(host.url.length), found?.content.title]] : [],
  )
  expect(led).toEqual([
    ['mcp', '/.well-known/ai-catalog.json', '/a'],
    ['mcp', '/b', '/b'],
    ['a2a', '/agent', 'Ada'],
    ['mcp', '/.well-known/ai-catalog.json#urn:air:shop.xyz:c', 'In'],
    ['a2a', '/d', 'Ada'],
  ])
  // While the catalog cannot be read, a card that it named keeps its place; once it names others, it does not.
  const catalog = `${host.url}/.well-known/ai-catalog.json`
  const content = { ...checks[0]?.found?.content, details: { catalog } }
  const known = [{ kind: 'mcp', url: `${host.url}/old`, content }] as unknown as KnownDocument[]
  expect((await lookAgain([host], known, services)).places).not.toContain(`mcp ${host.url}/old`)
  host.pages.set('/.well-known/ai-catalog.json', { status: 500, body: '' })
  expect((await lookAgain([host], known, services)).places).toContain(`mcp ${host.url}/old`)
})

test('a host that answers 304 though no version was named has no document', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  host.pages.set('/card.json', { status: 304, body: '' })
  const service = ['a2a', `${host.url}/card.json`] as const
  expect((await lookAt([host], service)).found).toContain('a2a /card.json http_4xx')
  const document = { kind: 'a2a', url: `${host.url}/card.json` } as KnownDocument
  const nameless = { ...document, version: { etag: null, lastModified: null } }
  expect((await lookAgain([host], [nameless], service)).found).toContain('a2a /card.json http_4xx')
  const named = { ...document, version: { etag: '"1"', lastModified: null } }
  // What older readers read is asked for again, without its version.
  expect((await lookAgain([host], [{ ...named, reader: 0 }], service)).found).toContain('a2a /card.json http_4xx')
  expect((await lookAgain([host], [{ ...named, reader: readerVersion }], service)).found).toContain('a2a /card.json ok')
})

test('a version of what the place of a catalog had before is not one of the card that the catalog leads to', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  const path = '/.well-known/ai-catalog.json'
  const entries = [{ identifier: 'urn:air:shop.xyz:ada', type: 'application/mcp-server-card+json', url: '/card' }]
  host.pages.set(path, { body: { specVersion: '1.0', entries } })
  host.pages.set('/card', { status: 304, body: '' })
  const known = {
    kind: 'mcp',
    url: `${host.url}${path}`,
    version: { etag: '"1"', lastModified: null },
  } as KnownDocument
  const { found } = await lookAgain([host], [known], ['web', host.url])
  expect(mcpOf(found)).toContain(`mcp ${path} http_4xx`)
})

const catalogType = 'application/ai-catalog+json'
const agentType = 'application/a2a-agent-card+json'
const serverType = 'application/mcp-server-card+json'
const wellKnownCatalog = '/.well-known/ai-catalog.json'

test('of a catalog at most 20 cards are read, inner ones included, and cards that stand in it are told apart', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  const inner = {
    type: catalogType,
    data: { entries: Array.from({ length: 15 }, () => ({ type: agentType, data: card })) },
  }
  host.pages.set(wellKnownCatalog, { body: { entries: [inner, { type: catalogType, url: '/more' }] } })
  host.pages.set('/more', { body: { entries: [inner, inner] } })
  const { checks } = await lookAt([host], ['web', host.url])
  const led = checks.filter(({ catalog }) => catalog !== undefined).map(({ candidate }) => candidate.url.href)
  expect(led).toHaveLength(20)
  expect(led.slice(13, 17).map((href) => href.slice(host.url.length))).toEqual([
    `${wellKnownCatalog}#0.13`,
    `${wellKnownCatalog}#0.14`,
    '/more#0.0',
    '/more#0.1',
  ])
  expect(checks.find(({ catalog }) => catalog !== undefined)?.found?.content.details.truncated).toEqual({ cards: 35 }) // at least
})

test('keys of the cards in a catalog count towards the requests to their host', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  const signatures = Array.from({ length: 4 }, (_, n) => {
    const header = { alg: 'ES256', kid: '1', jku: `${host.url}/keys/${n}` }
    return { protected: Buffer.from(JSON.stringify(header)).toString('base64url'), signature: 'AA' }
  })
  const entries = Array.from({ length: 20 }, () => ({ type: agentType, data: { ...card, signatures } }))
  host.pages.set(wellKnownCatalog, { body: { entries } })
  await lookAt([host], ['web', host.url])
  expect(host.requests.length).toBeLessThanOrEqual(20)
})

test('what a declared catalog names is not declared with it', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  const entries = ['/a', '/b'].map((url) => ({ type: serverType, url }))
  host.pages.set('/mcp.json', { body: { entries } })
  for (const { url } of entries) host.pages.set(url, { body: serverCard })
  const { checks } = await lookAt([host], ['MCP', `${host.url}/mcp.json`])
  const declared = (path: string) => checks.find(({ candidate }) => candidate.url.pathname === path)?.candidate.declared
  expect([declared('/mcp.json'), declared('/b')]).toEqual([true, false])
})

test('a card on another host of the site does not spoil the catalog that names it', async () => {
  const [host, busy, dead] = (await startHosts(3)) as [WebHost, WebHost, WebHost]
  busy.pages.set('/card', { status: 429, body: '' })
  dead.faults.add({ kind: 'cut' }, { times: Number.POSITIVE_INFINITY })
  host.pages.set('/agent', { body: card })
  host.pages.set('/openapi.json', { body: { openapi: '3.1.0', info: { title: 'Shop' }, paths: {} } })
  const catalogOf = (server: WebHost) => ({
    body: {
      entries: [
        { type: agentType, url: '/agent' },
        { type: serverType, url: `${server.url}/card` },
      ],
    },
  })
  const content = { details: { catalog: `${host.url}${wellKnownCatalog}` } }
  const known = [{ kind: 'mcp', url: `${busy.url}/card`, content }] as unknown as KnownDocument[]
  const look = async (server: WebHost) => {
    host.pages.set(wellKnownCatalog, catalogOf(server))
    const { found, places } = await lookInTurn('1', [host, busy, dead], known, [['web', host.url]])
    expect(mcpOf(found).filter((one) => one.includes(wellKnownCatalog))).toEqual(
      server === busy ? [] : [`mcp ${wellKnownCatalog} schema_mismatch`],
    )
    expect(found).toEqual(expect.arrayContaining(['a2a /agent ok', 'openapi /openapi.json ok']))
    return places
  }
  // The host that asked to wait was not asked for the card, which keeps its place; nor does it count against the catalog.
  expect(await look(busy)).toContain(`mcp ${busy.url}/card`)
  await look(dead)
})

test('a redirect to a host that asks to wait ends nothing but the request that it answered', async () => {
  const [host, busy] = (await startHosts(2)) as [WebHost, WebHost]
  for (const path of ['/card', '/.well-known/agent-registration.json']) busy.pages.set(path, { status: 429, body: '' })
  for (const path of ['/.well-known/agent-card.json', '/.well-known/agent-registration.json'])
    host.pages.set(path, { status: 307, headers: { location: `${busy.url}/card` }, body: '' })
  host.pages.set('/.well-known/x402', { body: { x402Version: 1, resources: ['/answer'] } })
  const { found, closedUntil, wasAsked } = await lookAt([host, busy], ['web', host.url])
  expect(found).toContain('x402 /.well-known/x402 ok')
  expect(found.filter((one) => one.includes('agent-card'))).toEqual([])
  expect([closedUntil, wasAsked]).toEqual([expect.any(Date), true])
})

test('a card for whose key no request is left has no verdict', async () => {
  const [host] = (await startHosts(1)) as [WebHost]
  const header = { alg: 'ES256', kid: '1', jku: `${host.url}/keys` }
  const signatures = [{ protected: Buffer.from(JSON.stringify(header)).toString('base64url'), signature: 'AA' }]
  const entries = Array.from({ length: 20 }, () => ({ type: agentType, data: { ...card, signatures } }))
  host.pages.set(wellKnownCatalog, { body: { entries } })
  const { checks } = await lookAt([host], ['web', host.url])
  const verdicts = checks.flatMap(({ found }) => (found ? [found.cardSignature] : []))
  expect(new Set(verdicts)).toEqual(new Set(['untrusted', undefined]))
})
