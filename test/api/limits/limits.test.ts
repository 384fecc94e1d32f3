import { beforeAll, describe, expect, test } from 'vitest'
import { clientOf } from '../../../api/http/rate-limit-key.ts'
import { MemoryStore } from '../../../api/limits/memory-store.ts'
import { errorBody } from '../../../api/schemas/error.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { seedAgent } from '../../support/seed.ts'

const database = testDatabase()
beforeAll(async () => {
  await seedAgent(database.pool, { fid: 1 })
})

/** An API behind one proxy, with a clock of the test's own. */
async function limited(limits = { perMinute: 60, perDay: 2_000 }, start = '2026-11-20T12:00:00Z') {
  const clock = { now: Date.parse(start) }
  const now = () => clock.now
  const api = await startApi(database, {
    trustProxyHops: 1,
    limiter: { limits, store: new MemoryStore(limits, now), now },
  })
  return { api, clock }
}
const from = (api: TestApi, ip: string, path = '/api/agent/1', method = 'GET') =>
  api.get(path, { method, headers: { 'x-forwarded-for': ip } })
const codes = async (answers: Promise<Response>[]) => (await Promise.all(answers)).map((answer) => answer.status)

test('of 61 requests in a minute 60 pass; the 61st is ERR_RATE_LIMIT with Retry-After 60', async () => {
  const { api, clock } = await limited()
  const many = await codes(Array.from({ length: 60 }, () => from(api, '192.0.2.1')))
  expect(new Set(many)).toEqual(new Set([200]))
  clock.now += 45_000 // whatever is left of the window
  for (const _again of [1, 2]) {
    const refused = await from(api, '192.0.2.1')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    expect(refused.headers.get('cache-control')).toBe('no-store')
    expect(refused.headers.get('access-control-allow-origin')).toBe('*')
    expect(errorBody.parse(await refused.json())).toEqual({
      error: 'ERR_RATE_LIMIT',
      detail: 'at most 60 requests a minute',
      limits: { perMinute: 60, perDay: 2_000 },
      retryAfterSeconds: 60,
    })
  }
  expect((await from(api, '192.0.2.2')).status).toBe(200)
  clock.now += 15_001
  expect((await from(api, '192.0.2.1')).status).toBe(200)
  await api.stop()
})

test('beyond the day’s requests it is ERR_RATE_LIMIT_DAILY until UTC midnight, and a new day begins there', async () => {
  const { api, clock } = await limited({ perMinute: 3, perDay: 5 }, '2026-11-20T23:50:00.250Z')
  const minute = () => {
    clock.now += 60_001
    return codes([1, 2, 3].map(() => from(api, '192.0.2.1')))
  }
  expect(await minute()).toEqual([200, 200, 200])
  expect((await minute()).sort()).toEqual([200, 200, 429])
  const refused = await from(api, '192.0.2.1')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '480']) // 23:52:00.252
  expect(errorBody.parse(await refused.json())).toEqual({
    error: 'ERR_RATE_LIMIT_DAILY',
    detail: 'at most 5 requests a day',
    limits: { perMinute: 3, perDay: 5 },
    retryAfterSeconds: 480,
  })
  clock.now = Date.parse('2026-11-20T23:59:59.999Z')
  const last = await from(api, '192.0.2.1')
  expect([last.status, last.headers.get('retry-after')]).toEqual([429, '1'])
  clock.now += 1
  expect((await from(api, '192.0.2.1')).status).toBe(200)
  await api.stop()
})

test('refusals of the minute and of the day are counted apart', async () => {
  const { api, clock } = await limited({ perMinute: 2, perDay: 3 })
  await codes([1, 2, 3, 4].map(() => from(api, '192.0.2.1')))
  clock.now += 60_001
  await codes([1, 2].map(() => from(api, '192.0.2.1')))
  const metrics = await (await api.get('/metrics')).text()
  expect(metrics).toMatch(/^agent_directory_http_errors_total\{code="ERR_RATE_LIMIT"\} 2$/m)
  expect(metrics).toMatch(/^agent_directory_http_errors_total\{code="ERR_RATE_LIMIT_DAILY"\} 1$/m)
  await api.stop()
})

test('a request the minute refuses does not use up the day', async () => {
  const { api, clock } = await limited({ perMinute: 2, perDay: 5 })
  for (const passing of [2, 2, 1]) {
    const answers = await codes(Array.from({ length: 20 }, () => from(api, '192.0.2.1')))
    expect(answers.filter((status) => status === 200)).toHaveLength(passing)
    clock.now += 60_001
  }
  await api.stop()
})

test('the API, the bulk data, the feeds, badges, MCP and the subgraph count, whatever its status and method; nothing else does', async () => {
  const { api } = await limited({ perMinute: 14, perDay: 100 })
  const ip = '192.0.2.7'
  for (const path of ['/healthz', '/readyz', '/metrics', '/', '/docs', '/openapi.json', '/exports/x', '/nowhere']) {
    const answer = await from(api, ip, path)
    expect(answer.headers.has('ratelimit')).toBe(false)
  }
  const counted = [
    '/api/agent/1',
    '/api/agent/0',
    '/api/agent/404',
    '/api/nowhere',
    '/api/agent/%E0%A4%A',
    '/data/x',
    '/feed.atom',
    '/feed/agents.atom',
    '/badge/1.svg',
    '/mcp',
    '/subgraph',
    '/subgraph/base',
    '/graphql',
  ]
  for (const [index, path] of counted.entries()) {
    expect((await from(api, ip, path)).headers.get('ratelimit')).toContain(`"minute"; r=${13 - index};`)
  }
  expect((await from(api, ip, '/api/agent/1', 'DELETE')).status).toBe(404)
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
    expect((await from(api, ip, '/api/agent/1', method)).status).toBe(429)
  }
  expect((await from(api, ip, '/healthz')).status).toBe(200)
  await api.stop()
})

test('metered answers say both limits in RateLimit and RateLimit-Policy, refused ones the limit that was hit', async () => {
  const { api } = await limited({ perMinute: 1, perDay: 9 })
  const first = await from(api, '192.0.2.1')
  expect(first.headers.get('ratelimit')).toMatch(/^"minute"; r=0; t=\d+, "day"; r=8; t=\d+$/)
  expect(first.headers.get('ratelimit-policy')).toBe('"minute"; q=1; w=60, "day"; q=9; w=86400')
  for (const _remembered of [false, true]) {
    const refused = await from(api, '192.0.2.1')
    expect(refused.headers.get('ratelimit')).toMatch(/^"minute"; r=0; t=\d+$/)
    expect(refused.headers.get('ratelimit-policy')).toBe('"minute"; q=1; w=60')
  }
  await api.stop()
})

describe('who is one client', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['64:ff9b::192.0.2.1', '192.0.2.1'],
    ['[64:ff9b::c000:201]:443', '192.0.2.1'],
    ['::ffff:0:192.0.2.1', '192.0.2.1'],
    ['64:ff9b:0:0:1::1', '64:ff9b::/64'],
    ['192.0.2.1:40312', '192.0.2.1'],
    ['2001:db8:1:2::10', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::10]:443', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::10', '2001:db8:1:3::/64'],
    ['somewhere', 'unknown'],
    ['', 'unknown'],
    [undefined, 'unknown'],
  ])('%j is %j', (ip, client) => {
    expect(clientOf(ip).replaceAll(/\b0000\b/g, '0')).toContain(client.replace('::/64', ''))
  })

  test('all of one /64 share a bucket, the next /64 has its own', async () => {
    const { api } = await limited({ perMinute: 1, perDay: 9 })
    const statuses = ['2001:db8:1:2::10', '2001:db8:1:2:ffff::99', '2001:db8:1:3::10'].map((ip) => () => from(api, ip))
    const seen = []
    for (const ask of statuses) seen.push((await ask()).status)
    expect(seen).toEqual([200, 429, 200])
    await api.stop()
  })

  test('without a trusted proxy a client cannot choose its address', async () => {
    const limits = { perMinute: 2, perDay: 9 }
    const store = new MemoryStore(limits, Date.now)
    const api = await startApi(database, { trustProxyHops: 0, limiter: { limits, store, now: Date.now } })
    const seen = []
    for (const ip of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) seen.push((await from(api, ip)).status)
    expect(seen).toEqual([200, 200, 429])
    await api.stop()
  })

  test('with one trusted proxy only the address that proxy wrote counts', async () => {
    const { api } = await limited({ perMinute: 1, perDay: 9 })
    const seen = []
    for (const chain of ['10.0.0.1, 192.0.2.9', '10.0.0.2, 192.0.2.9']) seen.push((await from(api, chain)).status)
    expect(seen).toEqual([200, 429])
    await api.stop()
  })
})
