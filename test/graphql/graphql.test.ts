import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { request, type Server } from 'node:http'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { graphqlPage } from '../../api/docs/elsewhere.ts'
import { createGraphqlApp } from '../../api/graphql/app.ts'
import { boundedDatabase } from '../../api/http/database.ts'
import { createHttpServer } from '../../api/http/server.ts'
import { MemoryStore } from '../../api/limits/memory-store.ts'
import { portOf } from '../../ops/health.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, insert, seedAgent, seedHolding, seedRegistration, seedSettlement } from '../support/seed.ts'
import { until } from '../support/until.ts'

const database = testDatabase()
const stops: (() => Promise<unknown>)[] = []
let url: string
beforeAll(async () => {
  const { pool } = database
  const own = addressOf('own')
  for (let fid = 1; fid <= 3; fid++) await seedAgent(pool, { fid, addresses: [own], claimMethod: 'jfs' })
  await seedRegistration(pool, { chain: 'base', id: 2n ** 200n, owner: own })
  await seedHolding(pool, { fid: 1, chain: 'base', id: 2n ** 200n, by: own })
  for (let block = 1; block <= 3; block++) await seedSettlement(pool, { chain: 'base', recipient: own, block })
  url = await serve(1_000_000)
})
afterAll(async () => {
  for (const stop of stops) await stop()
})

async function serve(perMinute: number, trustProxyHops = 0): Promise<string> {
  const limits = { perMinute, perDay: 1_000_000 }
  const { app, release } = await createGraphqlApp({
    databaseUrl: database.url,
    database: boundedDatabase(database.pool),
    pool: database.pool,
    log: pino({ level: 'silent' }),
    trustProxyHops,
    limiter: { limits, store: new MemoryStore(limits, Date.now), now: Date.now },
    notReady: () => undefined,
  })
  const server: Server = createHttpServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await release()
  })
  return `http://127.0.0.1:${portOf(server)}`
}

async function post(body: unknown, to = url, client?: string) {
  const response = await fetch(`${to}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(client !== undefined && { 'x-forwarded-for': client }) },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const answer = (await response.json()) as { data?: Record<string, unknown>; errors?: { message: string }[] }
  return { status: response.status, ...answer }
}
const ask = (query: string, variables?: Record<string, unknown>) => post({ query, variables })

test('the queries of docs/graphql.md are answered, and are those of the page, which names the same views', async () => {
  const document = await readFile(new URL('../../docs/graphql.md', import.meta.url), 'utf8')
  const queries = [...document.matchAll(/^```graphql\n([\s\S]*?)\n```$/gm)].map((match) => match[1] as string)
  expect(queries.length).toBeGreaterThan(1)
  for (const query of queries) expect((await ask(query)).errors).toBeUndefined()
  const site = { serviceName: 'directory', siteUrl: 'https://agents.example' }
  const page = graphqlPage(site, 'https://agents.example').replaceAll('&quot;', '"')
  const shown = [...page.matchAll(/<pre tabindex="0"><code>([\s\S]*?)<\/code>/g)].map((match) => match[1] as string)
  expect(shown.slice(0, -1)).toEqual(queries)
  const single = /--data '(.*)'/.exec((shown.at(-1) as string).replaceAll('&#39;', "'"))?.[1] ?? ''
  expect((await post(single)).errors).toBeUndefined()
  const [, named = ''] = /^SQL only: ([\s\S]+?), and the functions/m.exec(document) ?? []
  const views = [...named.matchAll(/`(\w+)`/g)].map(([, view]) => view)
  const { rows } = await database.pool.query(`select 1 from pg_views where schemaname = 'directory'`)
  expect(rows.length - views.length).toBe(11)
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8')
  for (const text of [document, page, readme]) expect(text).toMatch(/\beleven of (the|these) views\b/)
})

test('an answer and a refusal end with a newline, like those of the API, and have the length that they say', async () => {
  for (const [query, status] of [
    ['{ agentByFid(fid: "1") { fid } }', 200],
    ['{ nothing }', 400],
    ['{', 400],
  ] as const) {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${url}/graphql`, { method: 'POST', headers, body: JSON.stringify({ query }) })
    const text = await answer.text()
    expect([answer.status, text.at(-1), answer.headers.get('content-length')]).toEqual([status, '\n', `${text.length}`])
  }
})

test('an agent comes with its addresses, holdings, identities, settlements and claims', async () => {
  const { errors, data } = await ask(`{
    agentByFid(fid: "1") {
      fid handle verifiedAddresses
      addresses(first: 10) { nodes { address endedAt } }
      holdings(first: 10) { nodes { erc8004Id registration { chain ownerAddress } } }
      settlements(first: 2) { totalCount nodes { blockNumber amountUsdc counted } pageInfo { hasNextPage } }
    }
  }`)
  expect(errors).toBeUndefined()
  const own = addressOf('own')
  expect(data).toEqual({
    agentByFid: {
      fid: '1',
      handle: 'agent1',
      verifiedAddresses: [own],
      addresses: { nodes: [{ address: own, endedAt: null }] },
      holdings: { nodes: [{ erc8004Id: String(2n ** 200n), registration: { chain: 'base', ownerAddress: own } }] },
      settlements: {
        totalCount: 3,
        nodes: [1, 2].map((blockNumber) => ({ blockNumber, amountUsdc: '1.500000', counted: true })),
        pageInfo: { hasNextPage: true },
      },
    },
  })
})

test('an account that took itself out is found neither by its holdings nor from a registration', async () => {
  const { pool } = database
  const by = addressOf('left')
  await seedRegistration(pool, { chain: 'gnosis', id: 9, owner: by })
  await seedHolding(pool, { fid: 9, chain: 'gnosis', id: 9, by })
  const holders = async () => {
    const { errors, data } = await ask(`{
      allHoldings(first: 10, condition: { fid: "9" }) { nodes { heldBy } }
      allRegistrations(first: 10) { nodes { chain holdings(first: 10) { nodes { fid } } } }
    }`)
    expect(errors).toBeUndefined()
    return data
  }
  const found = (own: unknown[], ofRegistration: unknown[]) => ({
    allHoldings: { nodes: own },
    allRegistrations: {
      nodes: [
        { chain: 'base', holdings: { nodes: [{ fid: '1' }] } },
        { chain: 'gnosis', holdings: { nodes: ofRegistration } },
      ],
    },
  })
  expect(await holders()).toEqual(found([{ heldBy: by }], [{ fid: '9' }]))
  await insert(pool, 'unlisted', { fid: 9, since: new Date() })
  expect(await holders()).toEqual(found([], []))
})

test('what stands on an index may be filtered and ordered by; a page with its count is no dearer for its length', async () => {
  const { errors, data } = await ask(`{
    allAgents(first: 100, condition: { fid: "1" }) { totalCount nodes { fid } }
    newest: allAgents(first: 100, orderBy: [LISTED_AT_DESC, FID_DESC]) { nodes { fid } }
  }`)
  expect(errors).toBeUndefined()
  expect(data).toMatchObject({ allAgents: { totalCount: 1, nodes: [{ fid: '1' }] } })
  expect((data as { newest: { nodes: unknown[] } }).newest.nodes).toHaveLength(3)
})

test('there is no mutation, and no way to all settlements at once', async () => {
  const { data } = await ask('{ __schema { mutationType { name } queryType { fields { name } } } }')
  const { mutationType, queryType } = data!.__schema as {
    mutationType: null
    queryType: { fields: { name: string }[] }
  }
  expect(mutationType).toBeNull()
  const names = queryType.fields.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['allAgents', 'agentByFid', 'allRegistrations', 'allChains']))
  expect(names.filter((name) => /^all.*settlement/i.test(name))).toEqual([])
  // A moment in the past reads whole histories: for SQL alone.
  expect(names.filter((name) => /as_?of|tenure/i.test(name))).toEqual([])
})

const nested = (levels: number): string =>
  levels === 0 ? 'fid' : `addresses(first: 1) { nodes { agent { ${nested(levels - 1)} } } }`
const doubled = Array.from({ length: 30 }, (_, n) => `fragment f${n} on Agent { ...f${n + 1} ...f${n + 1} }`).join(' ')

test.for<[string, string, Record<string, unknown>?]>([
  ['no page size', '{ allAgents { nodes { fid } } }'],
  ['no page size below a page', '{ allAgents(first: 1) { nodes { holdings { nodes { chain } } } } }'],
  ['a page of 100,000', '{ allAgents(first: 100000) { nodes { fid } } }'],
  ['a page of minus one', '{ allAgents(first: -1) { nodes { fid } } }'],
  ['a page of 5,000 by variable', 'query ($n: Int) { allAgents(first: $n) { nodes { fid } } }', { n: 5000 }],
  ['a page by the default of a variable', 'query ($n: Int = 5000) { allAgents(first: $n) { nodes { fid } } }'],
  ['a page of null by variable', 'query ($n: Int = 5) { allAgents(first: $n) { nodes { fid } } }', { n: null }],
  [
    'a hundred pages of a hundred',
    '{ allAgents(first: 100) { nodes { holdings(first: 100) { nodes { chain reason } } } } }',
  ],
  [
    'the same hidden in fragments',
    'query { ...q } fragment q on Query { allAgents(first: 100) { nodes { ...h } } } fragment h on Agent { holdings(first: 100) { nodes { chain reason } } }',
  ],
  ['an agent within itself', `{ allAgents(first: 1) { nodes { ${nested(6)} } } }`],
  [
    'a page under 250 other names',
    `{ ${Array.from({ length: 250 }, (_, n) => `a${n}: allAgents(first: 100) { nodes { fid } }`).join(' ')} }`,
  ],
  [
    'fragments that double thirty times',
    `{ allAgents(first: 1) { nodes { ...f0 } } } ${doubled} fragment f30 on Agent { fid }`,
  ],
  [
    '110 counts under other names',
    `{ ${Array.from({ length: 110 }, (_, n) => `a${n}: allAgents(first: 0) { totalCount }`).join(' ')} }`,
  ],
  ['30 counts, one an agent', '{ allAgents(first: 30) { nodes { settlements(first: 1) { totalCount } } } }'],
  ['a condition on what has no index', '{ allAgents(first: 1, condition: { bio: "x" }) { nodes { fid } } }'],
  ['an order by what has no index', '{ allAgents(first: 1, orderBy: [BIO_ASC]) { nodes { fid } } }'],
  ['a fragment within itself', '{ allAgents(first: 1) { nodes { ...f } } } fragment f on Agent { ...f }'],
  ['an offset of a billion', '{ allAgents(first: 1, offset: 1000000000) { nodes { fid } } }'],
  [
    'an endless question about the schema',
    '{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }',
  ],
  ['more words than anybody writes', `{ ${'a '.repeat(2_500)} }`],
  ['a mutation', 'mutation { deleteAgent(input: {}) { clientMutationId } }'],
  ['no GraphQL', '{ allAgents(first: 1 { nodes'],
])('refused with 400 and a reason: %s', async ([, query, variables]) => {
  const { status, errors, data } = await ask(query, variables)
  expect(data ?? null).toBeNull()
  expect(errors?.[0]?.message).toMatch(/\w+ \w+/)
  expect(status).toBe(400)
})

test.for<[string, unknown, number]>([
  ['a list of operations', [{ query: '{ __typename }' }], 400],
  ['no query', { variables: {} }, 400],
  ['variables that are a list', { query: '{ __typename }', variables: [] }, 400],
  ['no JSON', '{"query":', 400],
  ['more than 20,000 bytes', { query: `{ __typename } #${'x'.repeat(20_000)}` }, 413],
])('a body that is %s is refused', async ([, body, status]) => {
  expect(await post(body)).toMatchObject({ status, errors: [{ message: expect.any(String) }] })
})

test('a query in the address is not carried out', async () => {
  const response = await fetch(`${url}/graphql?query=${encodeURIComponent('{ allAgents { nodes { fid } } }')}`)
  expect(response.status).toBe(404)
})

test('what is no path of this process, in any spelling, is answered like one of the API', async () => {
  const of = async (method: string, path: string) => {
    const response = await fetch(url + path, { method, ...(method === 'POST' && { body: '{}' }) })
    const { error } = (await response.json()) as { error?: string }
    return [response.status, error, response.headers.get('cache-control'), response.headers.get('allow')]
  }
  for (const [method, path] of [
    ['GET', '/nothing'],
    ['POST', '/GraphQL'],
  ] as const)
    expect(await of(method, path)).toEqual([404, 'ERR_NOT_FOUND', 'no-store', null])
  expect(await of('GET', '/graphql')).toEqual([404, 'ERR_NOT_FOUND', 'no-store', 'POST, OPTIONS'])
})

test('GraphiQL comes from here, and may ask what it asks about the schema', async () => {
  const page = await (await fetch(`${url}/`, { headers: { accept: 'text/html' } })).text()
  expect(page).toContain('ruru-static')
  expect(page).not.toMatch(/(src|href)="https?:/)
  const { getIntrospectionQuery } = await import('postgraphile/graphql')
  const { status, errors } = await ask(getIntrospectionQuery())
  expect({ status, errors }).toEqual({ status: 200, errors: undefined })
})

test('a client has the limits of the API, towards which a request without a Host counts', async () => {
  const limited = await serve(3)
  const { port } = new URL(limited)
  const [hostless] = await once(request({ port, path: '/graphql', setHost: false, agent: false }).end(), 'response')
  expect(hostless.resume().statusCode).toBe(400)
  const ask = () => post({ query: '{ __typename }' }, limited)
  expect([(await ask()).status, (await ask()).status]).toEqual([200, 200])
  expect(await ask()).toMatchObject({ status: 429, error: 'ERR_RATE_LIMIT' })
})

test('a greedy client holds half of the connections at most, and a modest one is answered meanwhile', async () => {
  const behindProxy = await serve(1_000_000, 1)
  const locker = await database.pool.connect()
  await locker.query('begin; lock table agent in access exclusive mode')
  try {
    const query = '{ allAgents(first: 1) { nodes { fid } } }'
    const greedy = Array.from({ length: 12 }, () => post({ query }, behindProxy, '192.0.2.1'))
    await until('the greedy client has what it can get', async () => (await held()) >= 2)
    for (let n = 0; n < 3; n++) {
      const modest = await post(
        { query: '{ allRegistrations(first: 1) { nodes { chain } } }' },
        behindProxy,
        '192.0.2.2',
      )
      expect(modest).toMatchObject({ status: 200, data: { allRegistrations: { nodes: [{ chain: 'base' }] } } })
      expect(modest.errors).toBeUndefined()
      expect(await held()).toBeLessThanOrEqual(2)
    }
    await locker.query('rollback')
    await Promise.all(greedy)
  } finally {
    locker.release(true)
  }
})

/** Database connections of GraphQL operations that wait for the lock. */
async function held(): Promise<number> {
  const { rows } = await database.pool.query(
    `select count(*) as n from pg_stat_activity
      where datname = current_database() and application_name = 'graphql' and wait_event_type = 'Lock'`,
  )
  return Number(rows[0].n)
}

test('the process tells that it is ready, and its metrics', async () => {
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  expect(await (await fetch(`${url}/metrics`)).text()).toContain('agent_directory_http_request_seconds')
})
