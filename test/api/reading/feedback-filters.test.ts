import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { feedbackList } from '../../../api/schemas/feedback/feedback.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf, birth, insert, seedAgent, seedHolding, seedRegistration } from '../../support/seed.ts'

const database = testDatabase()
let api: TestApi
const own = addressOf('own')
const minute = (n: number) => new Date(birth.getTime() + n * 60_000)
const pick = <T>(list: readonly T[], n: number) => list[n % list.length] as T

/** What filters are about, of feedback that shares words, values, clients and times. */
const given = Array.from({ length: 60 }, (_, n) => ({
  n,
  tag1: pick(['starred', 'uptime', 'Starred', ''], n),
  tag2: pick(['week', 'day', "o'clock", '%', ''], Math.floor(n / 2)),
  endpoint: pick(['https://agent.example/mcp', 'https://agent.example/mcp?a=b&c', ''], Math.floor(n / 3)),
  value: pick([0, -5, 40, 995], n),
  decimals: n % 2,
  client: pick(['one', 'two', 'three'].map(addressOf), Math.floor(n / 5)),
  at: minute(Math.floor(n / 2)),
}))

beforeAll(async () => {
  const { pool } = database
  await seedAgent(pool, { fid: 1, addresses: [own], chains: ['base'] })
  await seedRegistration(pool, { chain: 'base', id: 7, owner: own })
  await seedHolding(pool, { fid: 1, chain: 'base', id: 7, by: own, block: 0 })
  for (const { n, value, decimals, client, at, ...words } of given) {
    await insert(pool, 'feedback', {
      id: `base-7-${n}`,
      chain: 'base',
      agent_id: 7,
      client: Buffer.from(client.slice(2), 'hex'),
      feedback_index: n,
      value,
      value_decimals: decimals,
      ...words,
      feedback_uri: '',
      feedback_hash: Buffer.alloc(32),
      block_number: 100 + n,
      log_index: 0,
      block_timestamp: at,
      tx_hash: Buffer.alloc(32, 1),
    })
  }
  api = await startApi(database)
})
afterAll(() => api.stop())

/** Each filter with values to ask for, and which feedback it means. */
const filters = {
  tag1: { values: ['starred', 'STARRED', 'none'], fits: (value: string, row: Row) => row.tag1 === value },
  tag2: { values: ['week', "o'clock", '%', 'wee'], fits: (value: string, row: Row) => row.tag2 === value },
  endpoint: {
    values: ['https://agent.example/mcp', 'https://agent.example/mcp?a=b&c', 'https://agent.example'],
    fits: (value: string, row: Row) => row.endpoint === value,
  },
  min_value: {
    values: ['-0.5', '4', '99.5', '1000'],
    fits: (value: string, row: Row) => row.value / 10 ** row.decimals >= Number(value),
  },
  client: {
    values: [addressOf('two'), addressOf('nobody')],
    fits: (value: string, row: Row) => row.client === value,
  },
  since: {
    values: [minute(10).toISOString(), minute(29).toISOString()],
    fits: (value: string, row: Row) => row.at.getTime() >= Date.parse(value),
  },
} as const
type Row = (typeof given)[number]
type Name = keyof typeof filters
const names = Object.keys(filters) as Name[]

async function walk(query: Record<string, string>, limit: number): Promise<number[]> {
  const found: number[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const response = await api.get(
      `/api/agent/1/feedback?${new URLSearchParams({ ...query, limit: `${limit}`, cursor })}`,
    )
    expect(response.status).toBe(200)
    const body = feedbackList.parse(await response.json())
    found.push(...body.feedback.map(({ feedback_index }) => feedback_index))
    cursor = body.next_cursor
  }
  return found
}

const expected = (query: Record<string, string>) =>
  given
    .filter((row) => Object.entries(query).every(([name, value]) => filters[name as Name].fits(value, row)))
    .map(({ n }) => n)
    .reverse()

test.each(names)('feedback is found by %s as one by one', async (name) => {
  for (const value of filters[name].values) {
    expect([value, await walk({ [name]: value }, 7)]).toEqual([value, expected({ [name]: value })])
  }
  expect(filters[name].values.some((value) => expected({ [name]: value }).length > 0)).toBe(true)
})

test('filters of feedback combine with AND, page by page', async () => {
  const combination = fc
    .subarray(names, { minLength: 2, maxLength: 3 })
    .chain((chosen) =>
      fc.record(Object.fromEntries(chosen.map((name) => [name, fc.constantFrom(...filters[name].values)]))),
    )
  await fc.assert(
    fc.asyncProperty(combination, fc.integer({ min: 1, max: 30 }), async (query, limit) => {
      expect(await walk(query, limit)).toEqual(expected(query))
    }),
    { numRuns: 30 },
  )
})
