import { beforeAll, expect, test } from 'vitest'
import { inTransaction, type Queryable } from '../../../db/pool.ts'
import { writeContracts } from '../../../db/queries/chain/contracts.ts'
import { arePayments, insertPayments, tallyPaymentsWithin } from '../../../db/queries/chain/payments/payments.ts'
import { agentIncome } from '../../../db/queries/income/agent-income.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import type { PaymentRow } from '../../../processors/mapping/payments.ts'
import { jsonRows } from '../../../processors/store/json-rows.ts'
import { tallyPayments } from '../../../processors/store/payment-tally.ts'
import { toPayment } from '../../../processors/store/settlement-record.ts'
import { runIncome } from '../../derive/passes.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf, birth, hashOf, insert, seedAgent, seedChainState } from '../../support/seed.ts'

const database = testDatabase()
const contract = addressOf('jobs')
const seller = addressOf('seller')
const client = addressOf('client')
const other = addressOf('other client')

/** A row of job `job`, as the mapping gives it: whose release does not say who funded it. */
function row(
  kind: 'job_funding' | 'job_release' | 'job_return',
  block: number,
  job: number,
  party: string,
): PaymentRow {
  const isRelease = kind === 'job_release'
  return {
    chain: 'base',
    blockNumber: block,
    logIndex: 0,
    blockTimestamp: +birth,
    kind,
    token: addressOf('token'),
    payer: isRelease ? contract : party,
    payee: isRelease ? party : contract,
    gross: 5_000_000n,
    net: isRelease ? 5_000_000n : 0n,
    facilitator: addressOf('facilitator'),
    txHash: hashOf(`tx ${block}`),
    forwarder: null,
    originLogIndex: null,
    depth: null,
    subject: `${contract}${job.toString(16).padStart(64, '0')}`,
  }
}
const store = (db: Queryable, ...rows: PaymentRow[]) => insertPayments(db, jsonRows(rows.map(toPayment)))
const remove = (block: number) => database.pool.query('delete from payment where block_number = $1', [block])

async function settle() {
  while ((await rollUpSettlements({ pool: database.pool })) > 0);
  while ((await runIncome({ pool: database.pool })) > 0);
}
async function payers(): Promise<Record<string, string>> {
  const { rows } = await database.pool.query<{ block: number; payer: string }>(
    `select block_number as block, '0x' || encode(payer, 'hex') as payer from payment where kind = 'job_release'`,
  )
  return Object.fromEntries(rows.map(({ block, payer }) => [block, payer]))
}
/** Sums by payer, which rings, pay-backs and who has paid whom are read from. */
async function paidBy() {
  const { rows } = await database.pool.query<{ payer: string; amount: number }>(
    `select '0x' || encode(payer, 'hex') as payer, amount::float8 as amount from payment_sum where payee = $1`,
    [Buffer.from(seller.slice(2), 'hex')],
  )
  return Object.fromEntries(rows.map(({ payer, amount }) => [payer, amount]))
}
async function income() {
  const { members } = await agentIncome(database.pool, 7)
  return Object.fromEntries(Object.entries(members).map(([name, text]) => [name, JSON.parse(text)]))
}

beforeAll(async () => {
  const { pool } = database
  await seedChainState(pool, { chain: 'base', indexed: 1_000, finalized: 900, at: birth })
  await seedAgent(pool, { fid: 7, addresses: [seller] })
  await insert(pool, 'agent_change', { fid: 7, kind: 'upsert', changed_at: birth })
  await writeContracts(pool, 'base', [{ address: addressOf('token'), fromBlock: 0 }])
})

test('a release that is loaded before its funding has the contract as its payer, and then the client', async () => {
  const { pool } = database
  await store(pool, row('job_release', 200, 1, seller), row('job_release', 201, 2, seller))
  await settle()
  expect(await payers()).toEqual({ 200: contract, 201: contract })
  expect(await paidBy()).toEqual({ [contract]: 10_000_000 })
  // The job of another number, of another contract, and one that is funded later are others.
  await store(pool, row('job_funding', 100, 1, client), row('job_funding', 202, 2, other))
  await store(pool, { ...row('job_funding', 101, 2, other), subject: `${other}${'2'.padStart(64, '0')}` })
  await settle()
  expect(await payers()).toEqual({ 200: client, 201: contract })
  expect(await paidBy()).toEqual({ [client]: 5_000_000, [contract]: 5_000_000 })
  expect(await income()).toMatchObject({ raw: { payments: 2, amount_usdc: 10 }, payers: { raw: 2, filtered: 2 } })
})

test('what the agent pays itself by a job is its own, whenever that is found', async () => {
  const { pool } = database
  await store(pool, row('job_funding', 102, 2, seller))
  await settle()
  const { raw, self, filtered, payers, by_kind } = await income()
  expect({ raw, filtered }).toEqual({
    raw: { payments: 2, amount_usdc: 10 },
    filtered: { payments: 1, amount_usdc: 5 },
  })
  expect(self).toEqual({ payments: 1, amount_usdc: 5 })
  expect(payers).toEqual({ raw: 2, filtered: 1 })
  expect(by_kind.find(({ kind }: { kind: string }) => kind === 'job_release').raw).toEqual(raw)
})

test('a funding that goes takes its payer along, and what goes back is nobody’s loss', async () => {
  const { pool } = database
  await store(pool, row('job_return', 300, 1, client))
  await remove(102)
  await settle()
  expect(await payers()).toEqual({ 200: client, 201: contract })
  expect(await paidBy()).toEqual({ [client]: 5_000_000, [contract]: 5_000_000 })
  expect((await income()).raw).toEqual({ payments: 2, amount_usdc: 10 })
  // As a reset does: both in one statement.
  await store(pool, row('job_funding', 102, 2, seller))
  await pool.query('delete from payment where block_number in (102, 201)')
  await settle()
  expect(await payers()).toEqual({ 200: client })
  expect(await paidBy()).toEqual({ [client]: 5_000_000 })
})

test('an audit and a certificate see what the transactions say, whoever was found to have paid', async () => {
  const { pool } = database
  const funding = row('job_funding', 400, 4, client)
  const release = row('job_release', 401, 4, seller)
  await store(pool, funding, release)
  expect((await payers())[401]).toBe(client)
  const range = { fromBlock: 400, toBlock: 401 }
  const are = (rows: PaymentRow[]) =>
    arePayments(pool, 'base', range, { rows: jsonRows(rows.map(toPayment)), known: false })
  expect(await are([funding, release])).toBe(true)
  expect(await are([funding, { ...release, net: 1n }])).toBe(false)
  expect(await are([{ ...funding, payer: other }, release])).toBe(false)
  expect(await are([funding, { ...release, subject: funding.token }])).toBe(false)
  expect(await tallyPaymentsWithin(pool, 'base', range)).toEqual(tallyPayments([funding, release]))
})

test('a funding and a release that are written at the same time find each other', async () => {
  const { pool } = database
  await inTransaction(pool, async (db) => {
    await store(db, row('job_funding', 500, 5, client))
    await inTransaction(pool, (late) => store(late, row('job_release', 501, 5, seller)))
  })
  await settle()
  expect((await payers())[501]).toBe(client)
})
