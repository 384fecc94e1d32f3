import { beforeAll, expect, test } from 'vitest'
import { boundedDatabase } from '../../../api/http/database.ts'
import { inLane } from '../../../api/http/database-turns.ts'
import { createPool } from '../../../db/pool.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { rounds } from '../../support/rounds.ts'
import { seedAgent } from '../../support/seed.ts'
import { until } from '../../support/until.ts'

/** Agents, and requests sent at once; a machine busy with other tests answers the smaller number in time. */
const agents = rounds(300, 1000)
const database = testDatabase()
beforeAll(async () => {
  for (let fid = 1; fid <= agents; fid++) await seedAgent(database.pool, { fid })
})

/** Runs `work` with an API behind one proxy, with `connections` database connections and an empty cache. */
async function withApi(connections: number, work: (api: TestApi) => Promise<void>) {
  const pool = createPool({ databaseUrl: database.url, name: 'burst', max: connections })
  const bounded = boundedDatabase(pool)
  const api = await startApi(database, { database: bounded, pool: bounded, trustProxyHops: 1 })
  try {
    await work(api)
  } finally {
    await api.stop()
    await pool.end()
  }
}
const from = (api: TestApi, client: string, path: string) => api.get(path, { headers: { 'x-forwarded-for': client } })

test.for([
  ['profiles', 'one client', 1],
  ['profiles', 'a hundred clients', 100],
  ['searches', 'one client', 1],
] as const)('distinct %s asked for by %s at once are all answered', async ([what, , clients]) => {
  const path = { profiles: '/api/agent/', searches: '/api/discovery?q=agent' }[what]
  await withApi(10, async (api) => {
    const answers = await Promise.all(
      Array.from({ length: agents }, (_, n) => from(api, `198.51.100.${n % clients}`, `${path}${n + 1}`)),
    )
    expect(answers.filter(({ status }) => status !== 200)).toEqual([])
  })
})

test('one client’s burst does not keep another one waiting', async () => {
  await withApi(2, async (api) => {
    let answered = 0
    const burst = Array.from({ length: agents }, (_, n) =>
      from(api, '192.0.2.1', `/api/agent/${n + 1}`).then(({ status }) => {
        answered++
        return status
      }),
    )
    while (answered < 20) await new Promise((resolve) => setTimeout(resolve, 1))
    const before = answered
    expect((await from(api, '192.0.2.2', '/api/agent/1/settlements')).status).toBe(200)
    expect(answered - before).toBeLessThan(agents / 2)
    expect(new Set(await Promise.all(burst))).toEqual(new Set([200]))
  })
})

test('a flood of pages leaves the API its half of the connections', async () => {
  await withApi(4, async (api) => {
    const pages = Array.from({ length: 150 }, (_, n) => from(api, `192.0.2.${n % 200}`, `/?q=age&page=${n + 1}`))
    const reads = Array.from({ length: 50 }, (_, n) => from(api, '198.51.100.1', `/api/agent/${n + 1}`))
    expect(new Set((await Promise.all([...reads, ...pages])).map(({ status }) => status))).toEqual(new Set([200]))
  })
})

test('pages that wait for the database hold half of the connections, and the API is answered meanwhile', async () => {
  const held = async () => {
    const { rows } = await database.pool.query(
      `select count(*)::int as n from pg_stat_activity
        where datname = current_database() and application_name = 'burst' and wait_event_type = 'Lock'`,
    )
    return rows[0].n as number
  }
  await withApi(4, async (api) => {
    const locker = await database.pool.connect()
    await locker.query('begin; lock table agent in access exclusive mode')
    try {
      const pages = Array.from({ length: 12 }, (_, n) => from(api, `192.0.2.${n}`, `/?q=age&page=${n + 1}`))
      await until('pages have what they can get', async () => (await held()) >= 2)
      expect((await from(api, '198.51.100.1', '/api/coverage')).status).toBe(200)
      expect(await held()).toBe(2)
      await locker.query('rollback')
      await Promise.all(pages)
    } finally {
      locker.release(true)
    }
  })
})

test('slow statements of one client leave connections to another one', async () => {
  const pool = createPool({ databaseUrl: database.url, name: 'slow', max: 4 })
  const holder = await database.pool.connect()
  try {
    await holder.query('select pg_advisory_lock(4930)')
    const bounded = boundedDatabase(pool)
    const slow = { text: 'select pg_advisory_xact_lock_shared(4930)' }
    const all = Array.from({ length: 8 }, () => inLane('api', '192.0.2.1', () => bounded.query(slow)))
    await until('one client waits', () => bounded.waitingCount === 6)
    await inLane('api', '192.0.2.2', () => bounded.query({ text: 'select 1' }))
    expect(bounded.waitingCount).toBe(6)
    await holder.query('select pg_advisory_unlock(4930)')
    expect(await Promise.all(all)).toHaveLength(8)
  } finally {
    holder.release(true)
    await pool.end()
  }
})
