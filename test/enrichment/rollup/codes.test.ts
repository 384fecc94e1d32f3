import { beforeAll, expect, test } from 'vitest'
import { writeContracts } from '../../../db/queries/chain/contracts.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { runIncome } from '../../derive/passes.ts'
import { testDatabase } from '../../support/database.ts'
import {
  addressOf,
  birth,
  insert,
  seedAgent,
  seedChainState,
  seedCodes,
  seedPayment,
  seedSettlement,
} from '../../support/seed.ts'

const own = addressOf('own')
const database = testDatabase()
beforeAll(async () => {
  const { pool } = database
  await seedChainState(pool, { chain: 'base', indexed: 20, finalized: 20 })
  await writeContracts(pool, 'base', [{ address: addressOf('token'), fromBlock: 0 }])
  await seedAgent(pool, { fid: 1, addresses: [own] })
  await insert(pool, 'agent_change', { fid: 1, kind: 'upsert', changed_at: birth })
  await seedSettlement(pool, { chain: 'base', recipient: own, block: 10, amount: 1n })
  await seedSettlement(pool, { chain: 'base', recipient: own, block: 11, amount: 2n })
  await seedCodes(pool, { block: 11, app: 'shop' })
  const forwarder = addressOf('forwarder')
  await seedSettlement(pool, { chain: 'base', recipient: forwarder, block: 12, amount: 4n })
  const common = { kind: 'forwarded' as const, payee: own, payer: addressOf('payer'), amount: 4n, at: birth }
  await seedPayment(pool, { ...common, forwarder, block: 12, logIndex: 1, originLogIndex: 0, depth: 1 })
})

/** Income in base units that has evidence of x402, after all steps of the roll-up and of income. */
async function x402(): Promise<number> {
  const { pool } = database
  while ((await rollUpSettlements({ pool })) + (await runIncome({ pool })) > 0);
  const { rows } = await pool.query('select coalesce(sum(amount) filter (where x402), 0)::int as sum from income_hour')
  return rows[0].sum
}

test('codes in calldata are evidence of x402, those that are found or taken back later too', async () => {
  const { pool } = database
  expect(await x402()).toBe(2)
  await seedCodes(pool, { block: 10, facilitator: 'facilitator' })
  await seedCodes(pool, { block: 12, logIndex: 1, services: ['one'] })
  expect(await x402()).toBe(7)
  await pool.query('delete from builder_code where block_number > 10')
  expect(await x402()).toBe(1)
})
