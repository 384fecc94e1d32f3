import { beforeAll, expect, test } from 'vitest'
import type { IncomePayment } from '../../../api/schemas/income/income.ts'
import type { PaymentKind } from '../../../config/payments.ts'
import { writeContracts } from '../../../db/queries/chain/contracts.ts'
import { agentIncome } from '../../../db/queries/income/agent-income.ts'
import { incomePayments } from '../../../db/queries/income/payments.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { runIncome } from '../../derive/passes.ts'
import { testDatabase } from '../../support/database.ts'
import {
  addressOf,
  birth,
  hashOf,
  insert,
  seedAgent,
  seedChainState,
  seedPayment,
  seedVerification,
} from '../../support/seed.ts'

const database = testDatabase()
const seller = addressOf('seller')
const wallet = addressOf('wallet of the seller')
const stranger = addressOf('stranger')
let block = 100

/** A deposit in a channel to the seller, or a claim from it. */
async function log(kind: PaymentKind, channel: string, payer: string, amount: bigint, at = block++) {
  const net = kind === 'batch_claim' ? amount : 0n
  const subject = hashOf(`channel ${channel}`)
  await seedPayment(database.pool, { kind, payer, payee: seller, amount, net, block: at, at: birth, subject })
}
/** An address that was the agent's and is not any more. */
async function verifyOnce(address: string) {
  const { pool } = database
  await seedVerification(pool, { fid: 7, address, endedAt: birth })
  await insert(pool, 'agent_change', { fid: 7, kind: 'upsert', changed_at: birth })
}
const key = (number: number) => addressOf(`key ${number} of nobody`)

async function income() {
  while ((await rollUpSettlements({ pool: database.pool })) > 0);
  while ((await runIncome({ pool: database.pool })) > 0);
  const { members } = await agentIncome(database.pool, 7)
  const of = (name: string) => JSON.parse(members[name] ?? 'null')
  const dollars = (name: string) => of(name).amount_usdc
  return {
    raw: dollars('raw'),
    filtered: dollars('filtered'),
    self: dollars('self'),
    sameOwner: dollars('same_owner'),
    payers: of('payers'),
    held: of('pending')[0].amount_usdc,
  }
}

beforeAll(async () => {
  const { pool } = database
  await seedChainState(pool, { chain: 'base', indexed: 1_000, finalized: 900, at: birth })
  await seedAgent(pool, { fid: 7, addresses: [seller] })
  await insert(pool, 'agent_change', { fid: 7, kind: 'upsert', changed_at: birth })
  await writeContracts(pool, 'base', [{ address: addressOf('token'), fromBlock: 0 }])
})

test('a claim is the agent’s own whichever is: who signs, or who filled the channel', async () => {
  await verifyOnce(wallet)
  await log('batch_deposit', 'signed by a key, filled by the wallet', wallet, 5_000_000n)
  await log('batch_claim', 'signed by a key, filled by the wallet', key(1), 1_000_000n)
  await log('batch_deposit', 'signed by the wallet', stranger, 5_000_000n)
  await log('batch_claim', 'signed by the wallet', wallet, 2_000_000n)
  await log('batch_deposit', 'filled by the seller', seller, 4_000_000n)
  await log('batch_claim', 'filled by the seller', key(2), 4_000_000n)
  await log('batch_deposit', 'of a stranger', stranger, 8_000_000n)
  await log('batch_claim', 'of a stranger', key(3), 8_000_000n)
  expect(await income()).toEqual({
    raw: 15,
    filtered: 8,
    self: 4,
    sameOwner: 3,
    payers: { raw: 3, filtered: 1 }, // the wallet, the seller, and the stranger's key
    held: 7,
  })
  const filter = { chain: null, since: null, until: null }
  const { rows } = await incomePayments(database.pool, { fid: 7, limit: 10, order: 'asc', filter })
  const told = (JSON.parse(rows) as IncomePayment[]).map((one) => [one.payer_address, one.funder_address])
  expect(told).toEqual([
    [key(1), wallet],
    [wallet, stranger],
    [key(2), seller],
    [key(3), stranger],
  ])
})

test('who put in the most at once before the claim counts, whenever that is loaded', async () => {
  await log('batch_claim', 'of both', key(4), 10_000_000n, 500)
  expect((await income()).filtered).toBe(18)
  await log('batch_deposit', 'of both', wallet, 6_000_000n, 400)
  expect((await income()).filtered).toBe(8)
  await log('batch_deposit', 'of both', stranger, 7_000_000n, 401)
  expect((await income()).filtered).toBe(18)
  await log('batch_deposit', 'of both', wallet, 9_000_000n, 600)
  expect((await income()).filtered).toBe(18)
  await database.pool.query('delete from payment where block_number = 401')
  expect(await income()).toMatchObject({ raw: 25, filtered: 8 })
})

test('a wallet that becomes the agent’s own, or no longer is, moves the claims of channels that it filled', async () => {
  await log('batch_deposit', 'of a friend', addressOf('friend'), 1_000_000n)
  await log('batch_claim', 'of a friend', key(5), 1_000_000n)
  expect((await income()).filtered).toBe(9)
  await verifyOnce(addressOf('friend'))
  expect((await income()).filtered).toBe(8)
})

test('what the agent’s own put in is found behind any number of small deposits by others, whenever they are loaded', async () => {
  const before = await income()
  const own = addressOf('another wallet of the seller')
  await verifyOnce(own)
  const dust = async (channel: string, from: number) => {
    for (let n = 0; n < 25; n++) await log('batch_deposit', channel, stranger, 1_000n, from + n)
  }
  await dust('in order', 550)
  await log('batch_deposit', 'in order', own, 5_000_000n, 580)
  await log('batch_claim', 'in order', key(11), 1_000_000n, 581)
  await log('batch_claim', 'own money late', key(12), 1_000_000n, 641)
  await dust('own money late', 610)
  await log('batch_deposit', 'own money late', own, 5_000_000n, 640)
  await log('batch_deposit', 'dust late', own, 5_000_000n, 690)
  await log('batch_claim', 'dust late', key(13), 1_000_000n, 691)
  await dust('dust late', 660)
  // Of money of others of the same size it is told who put in the most at once.
  await log('batch_deposit', 'of two', stranger, 4_500_000n, 710)
  await log('batch_deposit', 'of two', own, 5_000_000n, 711)
  await log('batch_claim', 'of two', key(14), 1_000_000n, 712)
  // Larger deposits behind a claim do not change whose money that was.
  await log('batch_deposit', 'of a stranger first', stranger, 1_000n, 720)
  await log('batch_claim', 'of a stranger first', key(15), 1_000n, 721)
  await log('batch_deposit', 'of a stranger first', own, 5_000_000n, 722)
  const { raw, sameOwner } = await income()
  expect(raw - before.raw).toBeCloseTo(4.001, 6)
  expect(sameOwner - before.sameOwner).toBeCloseTo(4, 6)
  await database.pool.query('delete from payment where block_number between 550 and 750 and block_number <> 600')
  expect(await income()).toEqual(before)
})
