import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf, countSettlements, dropAgents, seedAgent, seedSettlement } from '../../support/seed.ts'

const database = testDatabase()
let api: TestApi
beforeAll(async () => {
  api = await startApi(database, { now: () => (now += 6_000) })
})
afterAll(() => api.stop())
/** The API's clock, 6 seconds later at each look: no answer comes from the cache, though totals may. */
let now = Date.now()

const read = async <T>(path: string): Promise<T> => (await api.get(path)).json() as Promise<T>

test('total and rows of discovery are of one moment while agents come and go', async () => {
  let stop = false
  const writing = (async () => {
    for (let fid = 1; !stop; fid = (fid % 90) + 1) {
      const client = await database.pool.connect()
      await client.query('begin')
      const gone = await dropAgents(client, 'fid = $1', [fid])
      if (gone === 0) await seedAgent(client as never, { fid })
      await client.query(`insert into agent_change (fid, kind, changed_at) values ($1, $2, now())`, [
        fid,
        gone > 0 ? 'delist' : 'upsert',
      ])
      await client.query('commit')
      client.release()
    }
  })()
  type List = { total: number; count: number; agents: unknown[] }
  const seen = new Set<number>()
  for (let round = 0; round < 150; round++) {
    const lists = await Promise.all(
      ['?limit=100', '?limit=100&q=age', '?limit=100&sort=oldest'].map((query) => read<List>(`/api/discovery${query}`)),
    )
    for (const { total, count, agents } of lists) {
      expect([total, count]).toEqual([agents.length, agents.length])
      seen.add(total)
    }
  }
  stop = true
  await writing
  expect(seen.size).toBeGreaterThan(5)
})

test('a total is not counted again while nothing changes', async () => {
  const texts: string[] = []
  const query = (config: { text: string }) => {
    texts.push(config.text)
    return database.pool.query(config)
  }
  const watched = await startApi(database, { now: () => now, database: { query } as never })
  for (let page = 1; page <= 5; page++) {
    now += 6_000
    for (const more of ['', '&chain=Base', '&claimed=claimed', '&spec=true&codehost=false&chain=OP']) {
      await watched.get(`/api/discovery?q=ag&page=${page}${more}`)
    }
    await watched.get(`/api/discovery?q=ag&page=${page}&status=active`)
  }
  const counts = (beginning: RegExp) => texts.filter((text) => beginning.test(text))
  expect(counts(/count\(\*\) as n from searched_agent/)).toHaveLength(1)
  expect(counts(/count\(\*\) from agent a/)).toHaveLength(1)
  await watched.stop()
})

test('a page and its total are asked for at once, and again when the total is of another moment', async () => {
  const { pool } = database
  const isCount = /as n from searched_agent/
  let asked: Promise<unknown> | undefined
  let told = () => {}
  const query = async (config: { text: string }) => {
    if (isCount.test(config.text)) told()
    if (/json_agg\(json_build_object/.test(config.text)) await asked
    return pool.query(config)
  }
  const still = await startApi(database, { now: () => now, database: { query } as never })
  const totalOf = async (page: number) => {
    const answer = await still.get(`/api/discovery?q=ag&page=${page}`)
    return ((await answer.json()) as { total: number }).total
  }
  asked = new Promise<void>((resolve) => {
    told = resolve
  })
  const before = await totalOf(1)
  await seedAgent(pool, { fid: 600 })
  await pool.query(`insert into agent_change (fid, kind, changed_at) values (600, 'upsert', now())`)
  expect([await totalOf(2), await totalOf(3)]).toEqual([before + 1, before + 1])
  await still.stop()
})

test('the leaderboard tells one number of settlements in 30 days, and of all', async () => {
  const recipient = addressOf('paid just now')
  await seedAgent(database.pool, { fid: 500, addresses: [recipient], settlements30d: 19, settlementsAll: 19 })
  const pay = (block: number) => seedSettlement(database.pool, { chain: 'base', recipient, block, at: new Date() })
  for (let block = 1; block <= 19; block++) await pay(block)
  await countSettlements(database.pool)
  await pay(20) // counted by the next round
  for (const period of ['7d', '30d', 'all']) {
    const { agents } = await read<{ agents: Record<string, number>[] }>(`/api/leaderboard?period=${period}`)
    expect(agents[0]).toMatchObject({ fid: 500, settlement_count: 19, settlements_30d: 19, settlements_all: 19 })
  }
})
