import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { boundedDatabase, createApiPool } from '../../../api/http/database.ts'
import { withSettings } from '../../../db/pool.ts'
import { startTcpLink, type TcpLink } from '../../doubles/tcp-link.ts'
import { failure, startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { seedAgent } from '../../support/seed.ts'
import { until } from '../../support/until.ts'

/** Longest that any answer may take, in milliseconds (docs/rules.md 1). */
const longestAnswerMs = 10_000

const database = testDatabase()
let link: TcpLink
let pool: pg.Pool
let api: TestApi
beforeAll(async () => {
  await seedAgent(database.pool, { fid: 1 })
  const url = new URL(database.url)
  link = await startTcpLink(Number(url.port))
  url.port = String(link.port)
  pool = createApiPool(url.href)
  api = await startApi(database, { pool, database: boundedDatabase(pool), now: () => now })
})
afterAll(async () => {
  await api.stop()
  await link.close()
  await pool.end()
})

/** The API's clock, moved before each request so that no answer comes from its cache. */
let now = Date.now()
const ask = async (path = '/api/agent/1') => {
  now += 60_000
  const start = performance.now()
  const response = await api.get(path)
  return { response, ms: performance.now() - start }
}
const serves = () =>
  until('the API serves again', async () => (await ask()).response.status === 200 && (await ask()).response.ok)

/** Sends `count` and a few more different requests; each is answered in time with ERR_INTERNAL and no detail. */
async function expectFailures(count: number) {
  const paths = Array.from({ length: count }, (_, n) => `/api/agent/${n + 1}`)
  const answers = await Promise.all([...paths, '/api/discovery', '/api/stats', '/feed.atom'].map(ask))
  for (const { response, ms } of answers) {
    expect(await failure(response)).toEqual({ status: 500, error: 'ERR_INTERNAL' })
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(ms).toBeLessThan(longestAnswerMs)
  }
}

test('tables locked by somebody else: 500 in time for everybody, and 200 once the lock is gone', async () => {
  const locker = await database.pool.connect()
  await locker.query('begin; lock table agent, agent_change in access exclusive mode')
  try {
    await expectFailures(60)
    expect((await api.get('/healthz')).status).toBe(200)
  } finally {
    await locker.query('rollback')
    locker.release()
  }
  await serves()
})

test('a database that is frozen: 500 in time, not ready, and 200 once it thaws', async () => {
  await serves()
  link.freeze()
  await expectFailures(60)
  const ready = await api.get('/readyz')
  expect([ready.status, await ready.text()]).toEqual([503, 'the database does not answer\n'])
  const metrics = await api.get('/metrics')
  expect([metrics.status, (await metrics.text()).includes('agent_directory_indexer_lag_seconds{')]).toEqual([
    200,
    false,
  ])
  link.thaw()
  await serves()
})

test('a database that is away: 500 at once, and 200 once it is back', async () => {
  await serves()
  await link.cut()
  await expectFailures(60)
  await link.mend()
  await serves()
})

test('a crowd before a frozen database is answered in time, and opens no further connection', async () => {
  await serves()
  link.freeze()
  const asked = Array.from({ length: 600 }, (_, n) => ask(`/api/agent/${n + 1}`))
  const answers = await Promise.all(asked)
  const wrong = answers.filter(({ response, ms }) => response.status !== 500 || ms >= longestAnswerMs)
  expect(wrong.map(({ response, ms }) => [response.status, ms])).toEqual([])
  expect(pool.totalCount).toBeLessThanOrEqual(10)
  link.thaw()
  await serves()
})

test('settings in DATABASE_URL are kept along with those of the API, and win', () => {
  const url = new URL(withSettings('postgres://a@b/c?options=-c%20jit%3Don&sslmode=require', { before: '-c jit=off' }))
  expect(url.searchParams.get('options')).toBe('-c jit=off -c jit=on')
  expect(url.searchParams.get('sslmode')).toBe('require')
  const reader = new URL(withSettings('postgres://a@b/c?options=-c%20role%3Dme', { after: '-c role=reader' }))
  expect(reader.searchParams.get('options')).toBe('-c role=me -c role=reader')
})
