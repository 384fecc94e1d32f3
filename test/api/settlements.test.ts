import { afterAll, beforeAll, expect, test } from 'vitest'
import { settlementList } from '../../api/schemas/settlements/settlement.ts'
import { failure, startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, hashOf, seedAgent, seedChainState, seedSettlement } from '../support/seed.ts'

const database = testDatabase()
let api: TestApi
const mine = addressOf('mine')
const old = addressOf('old')
const minute = (n: number) => new Date(Date.UTC(2026, 2, 1, 0, n))

beforeAll(async () => {
  api = await startApi(database)
  const { pool } = database
  await seedAgent(pool, { fid: 1, addresses: [mine, old] })
  await seedAgent(pool, { fid: 2, addresses: [addressOf('unpaid')] })
  await seedChainState(pool, { chain: 'base', indexed: 40, finalized: 20 })
  for (let n = 1; n <= 30; n++) {
    await seedSettlement(pool, {
      chain: 'base',
      recipient: n % 2 ? mine : old,
      block: n,
      at: minute(n),
      amount: BigInt(n),
    })
  }
  await seedSettlement(pool, { chain: 'base', recipient: mine, block: 31, logIndex: 1, at: minute(31) })
  await seedSettlement(pool, { chain: 'base', recipient: mine, block: 31, logIndex: 9, at: minute(31) })
  await seedSettlement(pool, { chain: 'celo', recipient: mine, block: 900, at: minute(31), selector: '0xef55bec6' })
  await seedSettlement(pool, { chain: 'celo', recipient: mine, block: 901, at: minute(40), selector: '0x88b7ab63' })
  await seedSettlement(pool, { chain: 'base', recipient: addressOf('other'), block: 39, at: minute(39) })
})
afterAll(() => api.stop())

const read = async (path: string, from = api) => {
  const response = await from.get(path)
  expect(response.status).toBe(200)
  const text = await response.text()
  return { text, body: settlementList.parse(JSON.parse(text)) }
}

test('the newest settlements of all verified addresses come first, by time, chain, block and log, all descending', async () => {
  const { body } = await read('/api/agent/1/settlements?limit=5')
  expect(body.fid).toBe(1)
  expect(body.count).toBe(5)
  expect(body.settlements.map((row) => `${row.chain} ${row.block_number} ${row.log_index}`)).toEqual([
    'celo 900 0',
    'base 31 9',
    'base 31 1',
    'base 30 0',
    'base 29 0',
  ])
})

test('a row carries the fields of the specification, then log, nonce, facilitator and finality', async () => {
  const { text, body } = await read('/api/agent/1/settlements?limit=1')
  expect(body.settlements).toEqual([
    {
      tx_hash: hashOf('tx celo 900'),
      block_number: 900,
      block_timestamp: '2026-03-01T00:31:00.000Z',
      payer_address: addressOf('payer'),
      recipient_address: mine,
      amount_usdc: 1.5,
      chain: 'celo',
      selector: '0xef55bec6',
      log_index: 0,
      payment_nonce: hashOf('nonce celo 900 0'),
      facilitator_address: addressOf('facilitator'),
      final: false,
    },
  ])
  expect(text).toContain('"amount_usdc":1.500000')
})

test('a row is final once its block is at or below the finalized one', async () => {
  const { body } = await read('/api/agent/1/settlements?limit=100')
  const base = body.settlements.filter((row) => row.chain === 'base')
  expect(base.filter((row) => row.final).map((row) => row.block_number)).toEqual(
    Array.from({ length: 20 }, (_, n) => 20 - n),
  )
})

test('an amount leaves as the exact number of its millionths, however large', async () => {
  const { pool } = database
  const amounts = [0n, 1n, 123_456_789_012_345n, 9_007_199_254_740_993n, 9_223_372_036_854_775_807n]
  await seedAgent(pool, { fid: 3, addresses: [addressOf('rich')] })
  for (const [block, amount] of amounts.entries()) {
    await seedSettlement(pool, { chain: 'ethereum', recipient: addressOf('rich'), block, amount })
  }
  const { text } = await read('/api/agent/3/settlements')
  expect([...text.matchAll(/"amount_usdc":([^,]+)/g)].map((match) => match[1])).toEqual([
    '9223372036854.775807',
    '9007199254.740993',
    '123456789.012345',
    '0.000001',
    '0.000000',
  ])
})

test.each([
  ['', 20],
  ['?limit=0', 1],
  ['?limit=-3', 1],
  ['?limit=101', 33],
  ['?limit=999999999999999999999', 33],
  ['?limit=7', 7],
  ['?limit=7.5', 20],
  ['?limit=0x7', 20],
  ['?limit=', 20],
  ['?limit=ten', 20],
  ['?limit=3&limit=9', 3],
  ['?LIMIT=3&other=1', 20],
])('limit %j gives %i rows: clamped to 1..100, 20 when it is no integer', async (query, rows) => {
  const { body } = await read(`/api/agent/1/settlements${query}`)
  expect(body.count).toBe(rows)
  expect(body.settlements).toHaveLength(rows)
})

test('an agent nobody paid has an empty list; a fid outside the index is not found', async () => {
  const { body } = await read('/api/agent/2/settlements')
  expect(body).toEqual({ fid: 2, count: 0, settlements: [] })
  const response = await api.get('/api/agent/77/settlements')
  expect(await failure(response)).toMatchObject({ status: 404, error: 'ERR_NOT_FOUND' })
})

test('the bytes overloads appear with their true selector where the operator shows them', async () => {
  const generous = await startApi(database, { settlementOverloads: 'all' })
  const { body } = await read('/api/agent/1/settlements?limit=1', generous)
  expect(body.settlements[0]).toMatchObject({ block_number: 901, selector: '0x88b7ab63' })
  await generous.stop()
})
