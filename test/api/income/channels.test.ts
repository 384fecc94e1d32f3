import { afterAll, beforeAll, expect, test } from 'vitest'
import { agentIncome, incomePayments } from '../../../api/schemas/income/income.ts'
import { writeContracts } from '../../../db/queries/chain/contracts.ts'
import { rollUpSettlements } from '../../../enrichment/join/rollup.ts'
import type { PaymentKind } from '../../../payments.config.ts'
import { runIncome } from '../../derive/passes.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf, birth, insert, seedAgent, seedChainState, seedPayment } from '../../support/seed.ts'

const database = testDatabase()
let api: TestApi
const seller = addressOf('seller')
const buyer = addressOf('buyer')

beforeAll(async () => {
  const at = birth
  api = await startApi(database, { now: () => at.getTime() })
  const { pool } = database
  await seedChainState(pool, { chain: 'base', indexed: 1_000, finalized: 900, at })
  await seedAgent(pool, { fid: 7, addresses: [seller] })
  await insert(pool, 'agent_change', { fid: 7, kind: 'upsert', changed_at: birth })
  await writeContracts(pool, 'base', [{ address: addressOf('token'), fromBlock: 0 }])
  let block = 100
  const log = (kind: PaymentKind, amount: bigint, more = {}) =>
    seedPayment(pool, {
      kind,
      amount,
      payer: buyer,
      payee: seller,
      block: block++,
      at,
      ...(kind === 'batch_claim' ? {} : { net: 0n }),
      ...more,
    })
  await log('batch_deposit', 10_000_000n)
  await log('batch_claim', 4_000_000n)
  await log('batch_return', 1_000_000n)
  await log('batch_claim', 2_000_000n, { payer: seller }) // its own
  await log('batch_deposit', 5_000_000n, { token: addressOf('other token') })
  await log('batch_deposit', 7_000_000n, { payee: addressOf('other seller') })
  await log('batch_deposit', 9_000_000n, { block: 950 }) // not final
  while ((await rollUpSettlements({ pool })) > 0);
  while ((await runIncome({ pool })) > 0);
})
afterAll(() => api.stop())

test('what is claimed from channels is income, and what they hold is in pending alone', async () => {
  const body = agentIncome.parse(await (await api.get('/api/agent/7/income')).json())
  expect(body).toMatchObject({
    raw: { payments: 2, amount_usdc: 6 },
    filtered: { payments: 1, amount_usdc: 4 },
    x402: { payments: 2, amount_usdc: 6, share: 1 },
    payers: { raw: 2, filtered: 1 },
    pending: [{ contract: 'batch_settlement', amount_usdc: 3 }],
  })
  expect(body.by_kind.filter(({ raw }) => raw.payments > 0)).toEqual([
    { kind: 'batch_claim', raw: { payments: 2, amount_usdc: 6 }, filtered: { payments: 1, amount_usdc: 4 } },
  ])
  const { payments } = incomePayments.parse(await (await api.get('/api/agent/7/income/payments?order=asc')).json())
  expect(payments.map(({ kind, amount, x402_evidence }) => [kind, amount, x402_evidence])).toEqual([
    ['batch_claim', '4000000', 'contract'],
    ['batch_claim', '2000000', 'contract'],
  ])
})
