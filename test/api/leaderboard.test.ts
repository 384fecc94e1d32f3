import { afterAll, beforeAll, expect, test } from 'vitest'
import { leaderboardAnswer } from '../../api/schemas/leaderboard/leaderboard.ts'
import { startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, countSettlements, seedAgent, seedSettlement } from '../support/seed.ts'

const database = testDatabase()
let api: TestApi
let block = 0
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000)

/** Seeds a settlement for each of `amounts` (base units of USDC), `age` days ago. */
async function pay(
  recipient: string,
  age: number,
  amounts: bigint[],
  more: { payer?: string; selector?: string } = {},
) {
  for (const amount of amounts) {
    await seedSettlement(database.pool, { chain: 'base', recipient, block: ++block, at: daysAgo(age), amount, ...more })
  }
}

beforeAll(async () => {
  api = await startApi(database)
  for (const fid of [1, 2, 3, 4, 5, 6]) {
    await seedAgent(database.pool, { fid, addresses: [addressOf(`a${fid}`), addressOf(`b${fid}`)] })
  }
  await pay(addressOf('a1'), 1, [1n, 1n])
  await pay(addressOf('b1'), 2, [1n], { payer: addressOf('somebody else'), selector: '0xef55bec6' })
  await pay(addressOf('a2'), 3, [2n, 2n, 2n]) // as many as 1, more volume
  await pay(addressOf('a3'), 8, [9n, 9n, 9n, 9n]) // most, but not in the last 7 days
  await pay(addressOf('a4'), 31, [9n, 9n, 9n, 9n, 9n]) // only in `all`
  await pay(addressOf('a5'), 1, [5n])
  await pay(addressOf('a6'), 1, [5n]) // equal to 5 in all but the fid
  await pay(addressOf('a6'), 1, [5n], { selector: '0xcf092995' }) // not a listed entry point
  await pay(addressOf('nobody'), 1, [100n, 100n, 100n, 100n, 100n, 100n])
  await countSettlements(database.pool)
})
afterAll(() => api.stop())

const read = async (query: string) => {
  const response = await api.get(`/api/leaderboard${query}`)
  expect(response.status).toBe(200)
  expect(response.headers.get('cache-control')).toBe('public, max-age=60')
  return leaderboardAnswer.parse(await response.json())
}
const ranking = async (query: string) =>
  (await read(query)).agents.map(({ rank, fid, settlement_count }) => [rank, fid, settlement_count])

test('agents rank by settlements in the window, then volume, then fid; those without one are left out', async () => {
  expect(await ranking('?period=7d')).toEqual([
    [1, 2, 3],
    [2, 1, 3],
    [3, 5, 1],
    [4, 6, 1],
  ])
  expect(await ranking('?period=30d')).toEqual([
    [1, 3, 4],
    [2, 2, 3],
    [3, 1, 3],
    [4, 5, 1],
    [5, 6, 1],
  ])
  expect(await ranking('?period=all')).toEqual([
    [1, 4, 5],
    [2, 3, 4],
    [3, 2, 3],
    [4, 1, 3],
    [5, 5, 1],
    [6, 6, 1],
  ])
})

test('a row is a lean row with its rank, count, volume, payers and last settlement', async () => {
  const { agents } = await read('?period=7d&limit=2')
  expect(Object.keys(agents[1] ?? {})).toEqual([
    'rank',
    'fid',
    'handle',
    'display_name',
    'pfp_url',
    'oli',
    'chains',
    'claimed',
    'claim_method',
    'agent_status',
    'settlements_30d',
    'settlements_all',
    'has_spec',
    'has_codehost',
    'registered_at',
    'listed_at',
    'last_seen_at',
    'settlement_count',
    'volume_usdc',
    'unique_payers',
    'last_settlement_at',
  ])
  expect(agents[1]).toMatchObject({ fid: 1, settlement_count: 3, volume_usdc: 0.000003, unique_payers: 2 })
  expect(Date.parse(agents[1]?.last_settlement_at ?? '') / 1_000).toBeCloseTo(daysAgo(1).getTime() / 1_000, -2)
})

test.each([
  ['', { period: '30d', limit: 10, count: 5 }],
  ['?period=1y&limit=none', { period: '30d', limit: 10 }],
  ['?limit=0', { limit: 1, count: 1 }],
  ['?limit=101', { limit: 100 }],
  ['?period=all&period=7d&limit=2&limit=3', { period: 'all', limit: 2, count: 2 }],
])('%j is answered with %j', async (query, shown) => {
  expect(await read(query)).toMatchObject(shown)
})

test('of more equals than are looked at, the one with the most volume is shown', async () => {
  for (let fid = 100; fid < 230; fid++) {
    await seedAgent(database.pool, { fid, addresses: [addressOf(`a${fid}`)] })
    await pay(addressOf(`a${fid}`), 200, [fid === 100 ? 50n : 1n])
  }
  await countSettlements(database.pool)
  expect((await ranking('?period=all&limit=5')).at(-1)).toEqual([5, 100, 1])
})

test('an agent was last seen when the counters next to that time say, in rankings, profiles, lists and SQL', async () => {
  const { pool } = database
  const cached = await startApi(database) // nothing of the tests before
  const own = addressOf('seen')
  await seedAgent(pool, { fid: 777, addresses: [own] })
  await pay(own, 2, Array(6).fill(1n))
  await countSettlements(pool)
  await pay(own, 1, [1n])
  const seenBy = async (path: string) => {
    const { agents, ...profile } = (await (await cached.get(path)).json()) as Record<string, unknown>
    const rows = (agents ?? [profile]) as Record<string, unknown>[]
    const { settlements_all, last_seen_at } = rows.find(({ fid }) => fid === 777) ?? {}
    return { settlements_all, last_seen_at }
  }
  const newest = async (counted: number) => {
    const { rows } = await pool.query(
      `select block_timestamp as at from settlement where recipient = decode($1, 'hex')
        order by block_timestamp limit 1 offset $2 - 1`,
      [own.slice(2), counted],
    )
    return { settlements_all: counted, last_seen_at: rows[0].at.toISOString() as string }
  }
  expect(await seenBy('/api/agent/777')).toEqual(await newest(7))
  const listed = await newest(6)
  expect(await seenBy('/api/leaderboard?period=7d')).toEqual(listed)
  expect(await seenBy('/api/discovery?limit=100')).toEqual(listed)
  expect(await seenBy(`/api/discovery?limit=100&seen_since=${listed.last_seen_at}`)).toEqual(listed)
  const { rows } = await pool.query('select settlements_all, last_seen_at from directory.agents where fid = 777')
  expect(rows).toEqual([{ settlements_all: 6, last_seen_at: new Date(listed.last_seen_at) }])
  await cached.stop()
})
