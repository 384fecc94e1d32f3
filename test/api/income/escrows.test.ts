import { afterAll, beforeAll, expect, test } from 'vitest'
import { agentIncome, incomePayments, incomeSeries } from '../../../api/schemas/income/income.ts'
import type { PaymentKind } from '../../../config/payments.ts'
import { writeContracts } from '../../../db/queries/chain/contracts.ts'
import { storeSenders } from '../../../db/queries/sources/facilitators.ts'
import { derivations } from '../../../derive/derivations.ts'
import { settle as settleKinds } from '../../../derive/pass.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { runIncome } from '../../derive/passes.ts'
import { startApi, type TestApi } from '../../support/api/api.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf, birth, hashOf, insert, seedAgent, seedChainState, seedPayment } from '../../support/seed.ts'

const database = testDatabase()
const day = 86_400_000
const now = new Date(+birth + 2 * day)
const seller = addressOf('seller')
let api: TestApi

const nobody = { payer: addressOf('nobody who paid'), subject: hashOf('nobody') }

async function log(kind: PaymentKind, block: number, amount: bigint, more = {}) {
  const at = new Date(+birth + (block < 200 ? 0 : day))
  const payment = { kind, amount, payer: addressOf('buyer'), payee: seller, block, at, subject: hashOf('purchase') }
  await seedPayment(database.pool, { ...payment, ...more })
}
async function settle() {
  while ((await rollUpSettlements({ pool: database.pool })) > 0);
  while ((await runIncome({ pool: database.pool })) > 0);
}

const settleDemand = () =>
  settleKinds(
    derivations.filter(({ kind }) => kind === 'demand'),
    { pool: database.pool, now: () => now, settlementOverloads: 'spec' },
  )

beforeAll(async () => {
  api = await startApi(database, { now: () => +now })
  const { pool } = database
  await seedChainState(pool, { chain: 'base', indexed: 1_000, finalized: 900, at: now })
  await seedAgent(pool, { fid: 7, addresses: [seller] })
  await insert(pool, 'agent_change', { fid: 7, kind: 'upsert', changed_at: birth })
  await writeContracts(pool, 'base', [{ address: addressOf('token'), fromBlock: 0 }])
  await log('escrow_authorization', 100, 9_000_000n, { net: 0n })
  await log('escrow_capture', 101, 4_000_000n, { net: 3_900_000n })
  await log('escrow_capture', 102, 1_000_000n)
  await log('escrow_return', 103, 2_000_000n, { net: 0n })
  await log('escrow_refund', 201, -1_500_000n)
  await log('escrow_refund', 202, -7_000_000n, { ...nobody })
  await log('escrow_refund', 203, -7_000_000n, { token: addressOf('other token'), subject: hashOf('other token') })
  await settle()
})
afterAll(() => api.stop())

const body = async (path: string) => (await api.get(path)).json()

test('a refund is less income of its own day, no payment, and nothing where no payment is known', async () => {
  const { by_kind, ...income } = agentIncome.parse(await body('/api/agent/7/income'))
  expect(income).toMatchObject({
    raw: { payments: 2, amount_usdc: 3.4 },
    payers: { raw: 1, filtered: 1 },
    x402: { payments: 0, amount_usdc: 0, share: 0 },
    first_paid_at: birth.toISOString(),
    last_paid_at: birth.toISOString(),
    other_tokens: { payments: 0 },
  })
  expect(income.pending).toContainEqual({ contract: 'auth_capture', amount_usdc: 2 })
  expect(by_kind.filter(({ kind }) => kind.startsWith('escrow')).map(({ kind, raw }) => [kind, raw])).toEqual([
    ['escrow_charge', { payments: 0, amount_usdc: 0 }],
    ['escrow_capture', { payments: 2, amount_usdc: 4.9 }],
    ['escrow_refund', { payments: 0, amount_usdc: -1.5 }],
  ])
  const series = incomeSeries.parse(await body('/api/agent/7/income/timeseries?interval=day'))
  const moved = series.points.filter(({ amount_usdc }) => amount_usdc !== 0)
  expect(moved.map(({ payments, amount_usdc }) => [payments, amount_usdc])).toEqual([
    [2, 4.9],
    [0, -1.5],
  ])
  const { payments } = incomePayments.parse(await body('/api/agent/7/income/payments?order=asc'))
  expect(payments.map(({ kind, amount, amount_usdc }) => [kind, amount, amount_usdc])).toEqual([
    ['escrow_capture', '3900000', 3.9],
    ['escrow_capture', '1000000', 1],
    ['escrow_refund', '-1500000', -1.5],
  ])
  const csv = await (await api.get('/api/agent/7/income.csv')).text()
  const amounts = csv.split('\r\n').map((line) => line.split(','))
  expect(amounts.slice(1, -1).map((cells) => [cells[8], cells[15]])).toEqual([
    ['3.900000', '3900000'],
    ['1.000000', '1000000'],
    ['-1.500000', '-1500000'],
  ])
  expect(await (await api.get('/agent/7')).text()).toMatch(/value="-1\.500000" title="-1\.500000 USD">−\$1/)
})

test('a payment that is found behind its refund counts the refund, too, in the hour of the refund', async () => {
  await log('escrow_charge', 150, 7_000_000n, { ...nobody })
  await settle()
  const { rows } = await database.pool.query(
    'select kind, sum(amount)::text as amount from income_hour where fid = 7 group by kind order by kind',
  )
  expect(rows).toEqual([
    { kind: 'escrow_capture', amount: '4900000' },
    { kind: 'escrow_charge', amount: '7000000' },
    { kind: 'escrow_refund', amount: '-8500000' },
  ])
  await database.pool.query('delete from payment where block_number = 150')
  await settle()
  const { rows: left } = await database.pool.query(`select sum(amount)::text as amount from income_hour where fid = 7`)
  expect(left).toEqual([{ amount: '3400000' }])
})

test('a refund takes off no more than what is left of its payment, whoever paid whom before', async () => {
  const summed = 'select sum(n)::int as n, sum(amount)::text as amount from income_hour where fid = 7'
  expect((await database.pool.query(summed)).rows).toEqual([{ n: 2, amount: '3400000' }])
  // All of it is a fee: nothing came to the seller that could go back.
  await log('escrow_charge', 160, 5_000_000n, { net: 0n, subject: hashOf('all is a fee') })
  await log('escrow_refund', 210, -5_000_000n, { subject: hashOf('all is a fee') })
  await log('escrow_charge', 161, 2_000_000n, { net: 1_900_000n, subject: hashOf('in parts') })
  await log('escrow_refund', 211, -1_500_000n, { subject: hashOf('in parts') })
  await log('escrow_refund', 212, -500_000n, { subject: hashOf('in parts') })
  await log('escrow_refund', 213, -500_000n, { subject: hashOf('in parts') })
  await settle()
  expect((await database.pool.query(summed)).rows).toEqual([{ n: 3, amount: '3400000' }])
  const { payments } = incomePayments.parse(await body('/api/agent/7/income/payments?order=desc&limit=3'))
  expect(payments.map(({ kind, amount, amount_usdc }) => [kind, amount, amount_usdc])).toEqual([
    ['escrow_refund', '-400000', -0.4],
    ['escrow_refund', '-1500000', -1.5],
    ['escrow_refund', '-1500000', -1.5],
  ])
})

test('who got all of it back is no payer that demand counts', async () => {
  const charge = { payer: addressOf('in and out'), subject: hashOf('in and out') }
  await log('escrow_charge', 170, 3_000_000n, charge)
  await settle()
  const demand = () =>
    database.pool.query(`select payers::int, amount::text from agent_demand where fid = 7 and chain = ''`)
  await settleDemand()
  expect((await demand()).rows).toEqual([{ payers: 2, amount: '6400000' }])
  await log('escrow_refund', 220, -3_000_000n, charge)
  await settle()
  await settleDemand()
  expect((await demand()).rows).toEqual([{ payers: 1, amount: '3400000' }])
  expect(agentIncome.parse(await body('/api/agent/7/income')).payers).toEqual({ raw: 1, filtered: 1 })
})

test('what a refund asks for beyond what is left is taken off nothing that is captured behind it', async () => {
  const left = `select coalesce(sum(amount), 0)::text as amount from income_hour where fid = 7`
  const before = (await database.pool.query(left)).rows
  for (const block of [180, 182]) {
    await log('escrow_capture', block, 1_000_000n, { net: 500_000n, subject: hashOf('half is a fee') })
    await log('escrow_refund', block + 1, -1_000_000n, { subject: hashOf('half is a fee') })
  }
  await settle()
  expect((await database.pool.query(left)).rows).toEqual(before)
})

test('a payment of an escrow is one of x402 while who sent it is a known facilitator', async () => {
  const facilitator = addressOf('named later')
  await log('escrow_charge', 190, 1_000_000n, { subject: hashOf('sent'), facilitator })
  await log('escrow_refund', 230, -250_000n, { subject: hashOf('sent'), facilitator })
  const x402 = async () => {
    await settle()
    const { rows } = await database.pool.query(
      'select sum(n)::int as n, sum(amount)::text as amount from income_hour where fid = 7 and x402',
    )
    return rows[0]
  }
  expect(await x402()).toEqual({ n: null, amount: null })
  await storeSenders(database.pool, 'facilitators', [{ address: facilitator, name: 'Later' }])
  expect(await x402()).toEqual({ n: 1, amount: '750000' })
  await storeSenders(database.pool, 'facilitators', [])
  expect(await x402()).toEqual({ n: null, amount: null })
})

test('a refund has the flag of the payment that it takes back, whoever the payer is by then', async () => {
  const payer = addressOf('operator for a moment')
  const filtered = async () => {
    await settle()
    const { rows } = await database.pool.query(`select amount::int from income_agent where fid = 7 and chain = 'base'`)
    return rows[0].amount
  }
  const before = await filtered()
  const charge = { payer, subject: hashOf('paid by a stranger') }
  await log('escrow_charge', 195, 1_000_000n, charge)
  expect(await filtered()).toBe(before + 1_000_000)
  const named = { from_at: new Date(+birth + day / 2), to_at: new Date(+birth + 2 * day) }
  const address = Buffer.from(payer.slice(2), 'hex')
  await insert(database.pool, 'income_owner', { fid: 7, address, because: 'operator', ...named })
  await log('escrow_refund', 240, -1_000_000n, charge)
  expect(await filtered()).toBe(before)
  const { payments } = incomePayments.parse(await body('/api/agent/7/income/payments?order=desc&limit=1'))
  expect(payments).toMatchObject([{ kind: 'escrow_refund', flag: 'none' }])
})
