import { beforeAll, beforeEach, expect, test } from 'vitest'
import { maxBlock } from '../../../db/block-range.ts'
import { inTransaction } from '../../../db/pool.ts'
import { deleteWithin } from '../../../db/queries/chain/block-rows.ts'
import { writeContracts } from '../../../db/queries/chain/contracts.ts'
import { markAll } from '../../../db/queries/due/queue.ts'
import { agentIncome } from '../../../db/queries/income/agent-income.ts'
import { lockRollup, rewindRollup } from '../../../db/queries/rollup/cursor.ts'
import { derivations } from '../../../derive/derivations.ts'
import { settle } from '../../../derive/pass.ts'
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
  seedHolding,
  seedPayment,
  seedRegistration,
} from '../../support/seed.ts'

// Feedback of clients whose payments went back to them.

const database = testDatabase()
const seller = addressOf('seller')
const buyer = addressOf('buyer')
const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
const time = (block: number) => new Date(+birth + block * 60_000)
const finalize = (block: number) => database.pool.query('update chain_state set finalized_block = $1', [block])

const back = addressOf('supplier of the seller')

async function log(
  kind: 'escrow_charge' | 'escrow_refund',
  block: number,
  amount: bigint,
  subject = 'purchase',
  [payer, payee] = [buyer, seller],
  fee = 0n,
) {
  const row = { kind, block, amount, net: amount - fee, payer, payee, subject: hashOf(subject), at: time(block) }
  await seedPayment(database.pool, row)
}
const derived = ['escrow fees', 'raters', 'feedback files']
const clients = derivations.filter(({ kind }) => derived.includes(kind))
const demand = derivations.filter(({ kind }) => kind === 'demand')
/** What is told of the buyer's feedback, once everything is derived. */
async function told() {
  const { pool } = database
  while ((await rollUpSettlements({ pool })) > 0);
  while ((await runIncome({ pool })) > 0);
  await settle(clients, { pool, now: () => time(1_000), settlementOverloads: 'spec' })
  const { rows } = await pool.query(
    `select f.paid, f.grounds, f.paid_at, c.is_idle as idle
       from judged_feedback f join feedback_client c using (client) where fid = 7`,
  )
  return rows[0]
}
const unpaid = { paid: false, grounds: 'none', paid_at: null, idle: true }
const paid = { paid: true, grounds: 'payment', paid_at: time(100), idle: false }

beforeAll(async () => {
  const { pool } = database
  await seedChainState(pool, { chain: 'base', indexed: 1_000, finalized: 150, at: birth })
  await seedAgent(pool, { fid: 7, addresses: [seller] })
  await seedRegistration(pool, { chain: 'base', id: 1, owner: seller })
  await seedHolding(pool, { fid: 7, chain: 'base', id: 1, by: seller, block: 0 })
  await insert(pool, 'agent_change', { fid: 7, kind: 'upsert', changed_at: birth })
  await writeContracts(pool, 'base', [{ address: addressOf('token'), fromBlock: 0 }])
  await insert(pool, 'feedback', {
    id: 'base-1',
    chain: 'base',
    agent_id: 1,
    client: bytes(buyer),
    feedback_index: 1,
    value: 5,
    value_decimals: 0,
    tag1: '',
    tag2: '',
    endpoint: '',
    feedback_uri: '',
    feedback_hash: Buffer.alloc(32),
    block_number: 120,
    log_index: 0,
    block_timestamp: time(120),
    tx_hash: Buffer.alloc(32),
  })
})
beforeEach(() => database.pool.query('delete from payment'))

test('a client who got all of it back has not paid, from the block in which that is final', async () => {
  expect(await told()).toEqual(unpaid)
  await log('escrow_charge', 100, 3_000_000n)
  expect(await told()).toEqual(paid)
  await log('escrow_refund', 140, -2_000_000n)
  expect(await told()).toEqual(paid)
  await log('escrow_refund', 200, -1_000_000n)
  expect(await told()).toEqual(paid)
  await finalize(250)
  expect(await told()).toEqual(unpaid)
  // A reorg below what was called final takes the refund away.
  await inTransaction(database.pool, async (db) => {
    await lockRollup(db, 'base')
    await deleteWithin(db, 'base', { fromBlock: 200, toBlock: maxBlock }, ['payment'])
    await rewindRollup(db, 'base', 200)
  })
  expect(await told()).toEqual(paid)
})

test('a refund that is loaded before its payment counts once that is, and what is paid afterwards is paid', async () => {
  await finalize(500)
  await log('escrow_refund', 140, -3_000_000n)
  expect(await told()).toEqual(unpaid)
  await log('escrow_charge', 100, 3_000_000n)
  expect(await told()).toEqual(unpaid)
  await log('escrow_charge', 110, 1_000n, 'another purchase')
  expect(await told()).toEqual(paid)
  await database.pool.query('delete from payment where net < 0')
  expect(await told()).toEqual(paid)
  await database.pool.query('delete from payment where block_number = 100')
  expect(await told()).toEqual({ ...paid, paid_at: time(110) })
  await database.pool.query('delete from payment')
  expect((await database.pool.query('select from payment_sum')).rows).toEqual([])
})

test('a client whose money goes round has not paid, whatever its file says, until that ends', async () => {
  const { pool } = database
  await log('escrow_charge', 100, 10_000_000n)
  await log('escrow_charge', 102, 10_000_000n, 'of the seller', [seller, back])
  expect(await told()).toEqual(paid)
  await log('escrow_charge', 104, 10_000_000n, 'to the buyer', [back, buyer])
  expect(await told()).toEqual({ ...unpaid, idle: false })
  await pool.query('update chain_state set chain_id = 8453')
  await pool.query(`update feedback set feedback_uri = 'https://example.org/file'`)
  await pool.query(
    `insert into feedback_file (feedback_id, uri_sha256, status, hash, payment_chain_id, payment_tx, read_at)
     values ('base-1', sha256('https://example.org/file'), 'ok', 'none', 8453, $1, $2)`,
    [bytes(hashOf('tx base 100')), time(120)],
  )
  expect(await told()).toEqual({ ...unpaid, idle: false, grounds: 'file' })
  await pool.query('delete from payment where block_number = 104')
  expect(await told()).toEqual({ ...paid, grounds: 'payment_named' })
})

test('who got back what the agent had of it has paid the fee, and who got that back too has not', async () => {
  const { pool } = database
  const everything = async () => {
    const { paid, idle } = await told()
    await settle(demand, { pool, now: () => time(1_000), settlementOverloads: 'spec' })
    const payers = await pool.query(`select payers, amount::int from agent_demand where fid = 7 and chain = ''`)
    const { rows } = await pool.query('select fees::int, refunded::int from payment_sum')
    const income = await agentIncome(pool, 7)
    return { paid, idle, demand: payers.rows, sums: rows, payers: JSON.parse(income.members.payers ?? '').raw }
  }
  await log('escrow_charge', 100, 3_000_000n, 'with a fee', undefined, 100_000n)
  await log('escrow_refund', 140, -2_900_000n, 'with a fee')
  const feePaid = { paid: true, idle: false, demand: [{ payers: 1, amount: 0 }], payers: 1 }
  expect(await everything()).toEqual({ ...feePaid, sums: [{ fees: 100_000, refunded: 2_900_000 }] })
  // A fee that was all of a payment.
  await log('escrow_refund', 141, -100_000n, 'with a fee')
  const gotAllBack = { paid: false, idle: true, demand: [], payers: 0 }
  expect(await everything()).toEqual({ ...gotAllBack, sums: [{ fees: 100_000, refunded: 3_000_000 }] })
  await log('escrow_charge', 101, 50_000n, 'nothing but a fee', undefined, 50_000n)
  expect(await everything()).toEqual({ ...feePaid, sums: [{ fees: 150_000, refunded: 3_000_000 }] })
  // Sums from before fees were counted are counted once something goes back of them, and again when all is derived again.
  await pool.query('update payment_sum set fees = null')
  expect((await everything()).sums).toEqual([{ fees: 150_000, refunded: 3_000_000 }])
  await inTransaction(pool, async (db) => {
    await db.query('set local session_replication_role = replica') // no trigger tells
    await db.query('update payment_sum set fees = 7')
  })
  await markAll(pool, 'escrow fees')
  expect(await everything()).toEqual({ ...feePaid, sums: [{ fees: 150_000, refunded: 3_000_000 }] })
  await pool.query('delete from payment where block_number = 101')
  expect(await everything()).toEqual({ ...gotAllBack, sums: [{ fees: 100_000, refunded: 3_000_000 }] })
  await pool.query('delete from payment')
  expect((await pool.query('select from payment_sum')).rows).toEqual([])
})
