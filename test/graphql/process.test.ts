import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { graphqlLimits } from '../../config/limits.protocols.ts'
import { type ApiProcess, startGraphqlProcess } from '../support/api/process.ts'
import { testDatabase } from '../support/database.ts'
import { runMain } from '../support/mains.ts'
import { startRedis, type TestRedis } from '../support/redis.ts'
import { seedAgent } from '../support/seed.ts'
import { until } from '../support/until.ts'

const database = testDatabase()
let redis: TestRedis
let processes: ApiProcess[] = []
beforeAll(async () => {
  await seedAgent(database.pool, { fid: 1 })
  redis = await startRedis()
})
afterEach(async () => {
  await Promise.all(processes.map((one) => one.kill()))
  processes = []
})
afterAll(() => redis.stop())

async function start(env: Record<string, string> = {}): Promise<ApiProcess> {
  const started = await startGraphqlProcess({ DATABASE_URL: database.url, ...env })
  processes.push(started)
  return started
}

const ask = ({ url }: ApiProcess) =>
  fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ agentByFid(fid: "1") { handle } }' }),
  })

const metrics = async ({ url }: ApiProcess) => (await fetch(`${url}/metrics`)).text()

test('two processes count one client together in Redis, and refuse when it is gone', async () => {
  const limits = { REDIS_URL: redis.url, LIMIT_PER_MINUTE: '6' }
  const pair = [await start(limits), await start(limits)]
  const asked = await Promise.all(Array.from({ length: 20 }, (_, n) => ask(pair[n % 2] as ApiProcess)))
  expect(asked.map(({ status }) => status).sort()).toEqual([...Array(6).fill(200), ...Array(14).fill(429)])
})

test('it refuses while Redis is gone, and counts again once it is back', async () => {
  const graphql = await start({ REDIS_URL: redis.url })
  expect((await ask(graphql)).status).toBe(200)
  await redis.kill()
  expect((await ask(graphql)).status).toBe(503)
  expect(await metrics(graphql)).toContain('agent_directory_limiter_ready 0')
  await redis.restart()
  await until('it counts again', async () => (await ask(graphql)).status === 200)
  expect(await metrics(graphql)).toContain('agent_directory_limiter_ready 1')
})

test('a catalogue that takes longer to read than an operation may does not end its start', async () => {
  const locker = await database.pool.connect()
  await locker.query('begin; lock table pg_catalog.pg_description in access exclusive mode')
  const started = start()
  await until('it has waited for the catalogue for longer than an operation may', async () => {
    const { rows } = await database.pool.query(
      `select true from pg_stat_activity
       where datname = current_database() and application_name = 'graphql' and wait_event_type = 'Lock'
         and clock_timestamp() - query_start > $1 * interval '1 ms'`,
      [graphqlLimits.statementMs + 500],
    )
    return rows.length > 0
  })
  await locker.query('commit')
  locker.release()
  expect((await ask(await started)).status).toBe(200)
})

test('SIGTERM ends it with 0, and a second later nobody listens', async () => {
  const graphql = await start()
  expect(await (await ask(graphql)).json()).toEqual({ data: { agentByFid: { handle: 'agent1' } } })
  graphql.terminate()
  expect(await graphql.exit).toEqual([0, null])
  await expect(ask(graphql)).rejects.toThrow('fetch failed')
})

test('every bad variable is named at once', async () => {
  const env = { GRAPHQL_PORT: '70000', REDIS_URL: 'localhost:6379', LIMIT_PER_DAY: '0' }
  const { code, stderr } = await runMain('api/graphql/main.ts', [], { env })
  expect(code).toBe(1)
  for (const name of Object.keys(env)) expect(stderr).toContain(`${name} must be`)
})
