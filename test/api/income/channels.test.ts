import { afterAll, beforeAll, expect, test } from 'vitest'
import { agentIncome, incomePayments } from '../../../api/schemas/income/income.ts'
import { readingLimits } from '../../../config/limits.ts'
import type { PaymentKind } from '../../../config/payments.ts'
import { writeContracts } from '../../../db/queries/chain/contracts.ts'
import { agentIncome as storedIncome } from '../../../db/queries/income/agent-income.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
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
  await log('batch_deposit', 2_000_000n, { payer: seller }) // its own
  await log('batch_claim', 2_000_000n, { payer: seller })
  await log('batch_deposit', 5_000_000n, { token: addressOf('other token') })
  await log('batch_deposit', 7_000_000n, { payee: addressOf('other seller') })
  await log('batch_deposit', 9_000_000n, { block: 950 }) // not final
  while ((await rollUpSettlements({ pool })) > 0);
  while ((await runIncome({ pool })) > 0);
})
afterAll(() => api.stop())

const held = (dollars: number) => ({ contract: 'batch_settlement', amount_usdc: dollars })

test('what is claimed from channels is income, and what they hold is in pending alone', async () => {
  const body = agentIncome.parse(await (await api.get('/api/agent/7/income')).json())
  expect(body).toMatchObject({
    raw: { payments: 2, amount_usdc: 6 },
    filtered: { payments: 1, amount_usdc: 4 },
    x402: { payments: 2, amount_usdc: 6, share: 1 },
    payers: { raw: 2, filtered: 1 },
    pending: [held(5), { contract: 'auth_capture', amount_usdc: 0 }],
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

test('what a payer takes out of a channel that was not seen to be filled is not taken off what others deposited', async () => {
  const { pool } = database
  const stranger = addressOf('stranger')
  await seedPayment(pool, {
    kind: 'batch_claim',
    amount: 2_500_000n,
    payer: stranger,
    payee: seller,
    block: 300,
    at: birth,
  })
  while ((await runIncome({ pool })) > 0);
  const { members } = await storedIncome(pool, 7)
  expect(JSON.parse(members.pending!)).toContainEqual(held(5))
})

test('any number of worthless deposits hides neither the payers of an agent nor what is held for it', async () => {
  const { pool } = database
  await pool.query(
    `insert into payment (id, chain, block_number, log_index, block_timestamp, kind, token, payer, payee, gross, net, facilitator, tx_hash)
     select 'worthless ' || i, 'base', 400, i, $1, 'batch_deposit', $2, $2, $3, 1, 0, $2, $2
       from generate_series(0, $4::int) i`,
    [birth, Buffer.alloc(20, 7), Buffer.from(seller.slice(2), 'hex'), readingLimits.payerSettlements],
  )
  const { members } = await storedIncome(pool, 7)
  expect(JSON.parse(members.payers!)).toEqual({ raw: 3, filtered: 2 })
  expect(JSON.parse(members.pending!)).toContainEqual(held(5))
})

test('deposits that do not count yet are read up to the bound, beyond which it is not told what is held', async () => {
  const { pool } = database
  const { rows } = await pool.query(`select token from payment where kind = 'batch_claim' limit 1`)
  const deposit = (first: number, last: number) =>
    pool.query(
      `insert into payment (id, chain, block_number, log_index, block_timestamp, kind, token, payer, payee, gross, net, facilitator, tx_hash)
       select 'not final ' || i, 'base', 960, i, $1, 'batch_deposit', $2, $3, $4, 1, 0, $3, $3 from generate_series($5::int, $6) i`,
      [birth, rows[0].token, Buffer.alloc(20, 7), Buffer.from(seller.slice(2), 'hex'), first, last],
    )
  const pending = async () => JSON.parse((await storedIncome(pool, 7)).members.pending ?? 'null')
  await deposit(1, 10)
  expect(await pending()).toContainEqual(held(5))
  await deposit(11, readingLimits.payerSettlements)
  expect(await pending()).toBeNull()
})
