import { afterAll, beforeAll, expect, test } from 'vitest'
import { rollUpSettlements } from '../../enrichment/periodic/rollup.ts'
import { startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, insert, seedAgent, seedChainState, seedSettlement } from '../support/seed.ts'

// Settlements in a token whose base units are finer than millionths of a dollar.

const database = testDatabase()
const seller = addressOf('seller')
let api: TestApi

beforeAll(async () => {
  const { pool } = database
  await pool.query(
    `create or replace function tokens_are_scaled() returns boolean language sql immutable parallel safe as 'select true'`,
  )
  await seedAgent(pool, { fid: 1, addresses: [seller] })
  await seedChainState(pool, { chain: 'base', indexed: 400, finalized: 250 })
  for (const [block, units] of [
    [1, '1500000000000000000'],
    [2, '1500000900000000000'],
    [3, '1500001000000000000'],
  ] as const) {
    const row = { chain: 'base', recipient: seller, block, logIndex: 0, payer: addressOf('buyer') } as const
    await seedSettlement(pool, { ...row, at: new Date(Date.UTC(2026, 2, block)), amount: BigInt(units) / 10n ** 12n })
    const exact = { id: `base-${block}-0`, chain: 'base', block_number: block, log_index: 0 }
    await insert(pool, 'exact_amount', { ...exact, base_units: units, decimals: 18 })
  }
  while ((await rollUpSettlements({ pool })) > 0);
  api = await startApi(database)
})
afterAll(() => api.stop())

test.for([
  ['max_amount=1.5', [1]],
  ['max_amount=1.500001', [3, 2, 1]],
  ['min_amount=1.5&max_amount=1.5', [1]],
  ['min_amount=1.500001', [3]],
] as const)('bounds on amounts hold to the last digit: %s', async ([query, blocks]) => {
  for (const path of ['/api/agent/1/settlements?', `/api/settlements?recipient=${seller}&`]) {
    const response = await api.get(`${path}${query}`)
    expect([path, response.status]).toEqual([path, 200])
    const { settlements } = (await response.json()) as { settlements: { block_number: number }[] }
    expect(settlements.map(({ block_number }) => block_number)).toEqual(blocks)
  }
})
