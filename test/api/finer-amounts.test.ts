import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeContracts } from '../../db/queries/chain/contracts.ts'
import { rollUpSettlements } from '../../enrichment/periodic/rollup.ts'
import { runIncome } from '../derive/passes.ts'
import { startApi, type TestApi } from '../support/api/api.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, birth, insert, seedAgent, seedChainState, seedPayment, seedSettlement } from '../support/seed.ts'

// Settlements and payments in a token whose base units are finer than millionths of a dollar.

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
  await insert(pool, 'agent_change', { fid: 1, kind: 'upsert', changed_at: birth })
  await writeContracts(pool, 'base', [{ address: addressOf('token'), fromBlock: 0 }])
  const small = {
    kind: 'permit2_exact',
    payee: seller,
    payer: addressOf('payer of next to nothing'),
    amount: 0n,
  } as const
  await seedPayment(pool, { ...small, block: 4, at: new Date(Date.UTC(2026, 2, 4)), fractionSign: 1 })
  const exact = { id: 'base-4-0', chain: 'base', block_number: 4, log_index: 0 }
  await insert(pool, 'exact_amount', { ...exact, base_units: '7', decimals: 18 })
  while ((await rollUpSettlements({ pool })) > 0);
  while ((await runIncome({ pool })) > 0);
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

test('a payment of less than a millionth of a dollar is listed with all its digits, and counts as dust', async () => {
  const text = await (await api.get('/api/agent/1/income/payments')).text()
  expect(/\{[^{]*"kind":"permit2_exact"[^}]*\}/.exec(text)?.[0]).toContain('"amount_usdc":0.000000000000000007')
  expect(await (await api.get('/api/agent/1/income')).json()).toMatchObject({
    raw: { payments: 4, amount_usdc: 4.500001 },
    payers: { raw: 2 },
    flags: { dust: { payments: 1, amount_usdc: 0 } },
  })
})
