import { afterEach, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../../ops/ports.ts'
import { type ApiProcess, startApiProcess } from '../../support/api/process.ts'
import { testDatabase } from '../../support/database.ts'
import { runMain } from '../../support/mains.ts'
import { seedAgent } from '../../support/seed.ts'
import { until } from '../../support/until.ts'

const database = testDatabase()
let api: ApiProcess | undefined
beforeAll(async () => {
  await seedAgent(database.pool, { fid: 1 })
})
afterEach(() => api?.kill())

const start = async (env: Record<string, string> = {}) => {
  api = await startApiProcess({ DATABASE_URL: database.url, ...env })
  return api
}

test('SIGTERM lets the requests in flight end, takes no new ones, and ends with 0', async () => {
  const port = await freePort()
  const { url, exit, terminate } = await start({ METRICS_PORT: String(port) })
  const locker = await database.pool.connect()
  await locker.query('begin; lock table agent in access exclusive mode')
  const asked = Array.from({ length: 20 }, (_, n) => fetch(`${url}/api/agent/${n + 1}`))
  await until('all requests are in flight', async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    return /^agent_directory_http_requests_in_flight 20$/m.test(metrics)
  })
  await until('the requests wait for the lock', async () => {
    const { rows } = await database.pool.query('select count(*) as n from pg_locks where not granted')
    return rows[0].n >= 5 // one client holds half of the connections at most
  })
  terminate()
  await until('new connections are refused', () =>
    fetch(`${url}/healthz`)
      .then(() => false)
      .catch(() => true),
  )
  await locker.query('rollback')
  locker.release()
  const statuses = (await Promise.all(asked)).map((response) => response.status).sort()
  expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 404)])
  expect(await exit).toEqual([0, null])
})

test('without REDIS_URL one line at the start says that limits are this process’s own', async () => {
  const { url, lines } = await start({ LIMIT_PER_MINUTE: '2' })
  expect(lines.map((line) => line.msg)).toContain('REDIS_URL is unset: limits are counted in this process alone')
  const statuses = []
  for (let n = 0; n < 3; n++) statuses.push((await fetch(`${url}/api/agent/1`)).status)
  expect(statuses).toEqual([200, 200, 429])
})

test('with METRICS_PORT metrics are told there alone, and health in both places', async () => {
  const port = await freePort()
  const { url } = await start({ METRICS_PORT: String(port) })
  expect((await fetch(`${url}/metrics`)).status).toBe(404)
  const own = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)
  await until('it listens', () =>
    own('/readyz').then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  expect(await (await own('/metrics')).text()).toMatch(
    /^agent_directory_http_request_seconds_count\{route="\/readyz",method="GET",/m,
  )
  expect((await own('/healthz')).status).toBe(200)
})

test('an error nobody is told about is logged with the id of its request', async () => {
  const { url, lines } = await start()
  await database.pool.query('alter table agent rename to elsewhere')
  const response = await fetch(`${url}/api/agent/1`)
  await database.pool.query('alter table elsewhere rename to agent')
  expect([response.status, await response.json()]).toEqual([500, { error: 'ERR_INTERNAL' }])
  const requestId = response.headers.get('x-request-id')
  await until('the log names it', () => lines.some((line) => (line as { requestId?: string }).requestId === requestId))
  expect(lines.map((line) => line.msg)).toContain('relation "agent" does not exist')
})

test('every bad variable is named at once, and nothing listens', async () => {
  const env = {
    PORT: '70000',
    REDIS_URL: 'localhost:6379',
    BASE_URL: 'api.example',
    TRUST_PROXY_HOPS: 'yes',
    LIMIT_PER_DAY: '0',
    SETTLEMENT_OVERLOADS: 'some',
    LOG_LEVEL: 'loud',
    RPC_BASE: 'base',
    SERVICE_NAME: 'A b',
  }
  const { code, stderr } = await runMain('api/main.ts', [], { env })
  expect(code).toBe(1)
  for (const name of Object.keys(env)) expect(stderr).toContain(`${name} must be`)
})

test('--help explains, a word too many is one line and exit code 2', async () => {
  expect(await runMain('api/main.ts', ['--help'])).toMatchObject({ code: 0, stderr: '' })
  const wrong = await runMain('api/main.ts', ['base'])
  expect([wrong.code, wrong.stderr.trim().split('\n')]).toEqual([
    2,
    [expect.stringContaining('unexpected argument base')],
  ])
})
