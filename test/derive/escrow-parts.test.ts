import { beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../../db/pool.ts'
import { markAll } from '../../db/queries/due/queue.ts'
import { agentIncome, allIncome } from '../../db/queries/income/agent-income.ts'
import { derivations } from '../../derive/derivations.ts'
import { settle } from '../../derive/pass.ts'
import { rollUpSettlements } from '../../enrichment/periodic/rollup.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, birth, hashOf, insert, seedAgent, seedChainState, seedPayment } from '../support/seed.ts'
import { runIncome } from './passes.ts'

const database = testDatabase()
const fid = 1
const seller = addressOf('seller')
const wallet = addressOf('wallet')
const minute = 60_000
const timeOf = (block: number) => new Date(+birth + block * minute)

let rows = 0
async function store(payee: string, subject: string, block: number, amount: bigint, count = 1) {
  for (let n = 0; n < count; n++)
    await seedPayment(database.pool, {
      chain: 'base',
      kind: amount < 0n ? 'escrow_refund' : 'escrow_charge',
      payer: addressOf('buyer'),
      payee,
      token: addressOf('token'),
      subject: hashOf(subject),
      block,
      logIndex: rows++,
      amount,
      net: amount,
      at: timeOf(block),
    })
}

async function income() {
  const { pool } = database
  const steps = { changes: 100, rings: 50, hours: 500, payments: 50_000, parts: 20 }
  while ((await rollUpSettlements({ pool })) + (await runIncome({ pool, steps })) > 0);
  const { rows } = await pool.query<{ recipient: string; amount: number }>(
    `select '0x' || encode(recipient, 'hex') as recipient, sum(amount)::int as amount from income_hour group by 1`,
  )
  return new Map(rows.map((row) => [row.recipient, row.amount]))
}

beforeAll(async () => {
  const { pool } = database
  await seedAgent(pool, { fid, addresses: [seller] })
  await insert(pool, 'agent_change', { fid, kind: 'upsert', changed_at: birth })
  await insert(pool, 'chain_contract', { chain: 'base', address: addressOf('token'), from_block: 0 })
  await seedChainState(pool, { chain: 'base', indexed: 900, finalized: 900 })
  await income()
})

test('of a payment with hundreds of captures all count, and a refund behind them takes what went back', async () => {
  await store(seller, 'many', 10, 100n, 130)
  await store(seller, 'many', 11, -1n)
  expect((await income()).get(seller)).toBe(12_999)
  // What is loaded later stands before them.
  await store(seller, 'many', 5, 100n, 30)
  await store(seller, 'many', 6, -50n)
  await store(seller, 'many', 4, -70n)
  expect((await income()).get(seller)).toBe(15_949)
  // What is lost unseen behind all that one pass reads is derived again, and so is a time.
  const parts = async () => (await database.pool.query('select * from escrow_part order by place')).rows
  const before = await parts()
  await inTransaction(database.pool, async (db) => {
    await db.query('set local session_replication_role = replica') // no trigger tells
    await db.query('update escrow_part set refunded = 0 where place = (select max(place) from escrow_part)')
    await db.query('update escrow_part set block_timestamp = now() where place = (select min(place) from escrow_part)')
  })
  expect(await parts()).not.toEqual(before)
  await markAll(database.pool, 'escrows')
  await income()
  expect(await parts()).toEqual(before)
  // Without a refund no sums are left of it.
  await database.pool.query('delete from payment where net < 0')
  expect((await income()).get(seller)).toBe(16_000)
  expect((await database.pool.query('select from escrow_part')).rows).toEqual([])
})

test('a refund takes back what came first, so of a wallet that changed hands what came while it was the agent’s', async () => {
  // The agent has the wallet from block 20 to 40, and again from block 60.
  for (const [from, to] of [
    [20, 40],
    [60, null],
  ] as const)
    await insert(database.pool, 'income_address', {
      fid,
      address: Buffer.from(wallet.slice(2), 'hex'),
      chain: 'base',
      from_at: timeOf(from),
      to_at: to ? timeOf(to) : 'infinity',
    })
  for (const block of [10, 20, 30, 50, 60]) await store(wallet, 'handed on', block, 100n)
  expect((await income()).get(wallet)).toBe(300)
  // All of the first and half of the second, which was the agent's.
  await store(wallet, 'handed on', 70, -150n)
  expect((await income()).get(wallet)).toBe(250)
  // The rest of the second, the third, and of the fourth, which was not.
  await store(wallet, 'handed on', 71, -200n)
  expect((await income()).get(wallet)).toBe(100)
  await store(wallet, 'handed on', 72, -500n)
  expect((await income()).get(wallet)).toBe(0)
})

test('while what a refund took waits to be told, the income says since which hour', async () => {
  const { pool } = database
  await store(seller, 'waiting', 600, 100n)
  await income()
  const dues = async () => [(await agentIncome(pool, fid)).due, (await allIncome(pool)).due]
  expect(await dues()).toEqual([null, null])
  await store(seller, 'waiting', 700, -40n)
  while ((await rollUpSettlements({ pool })) > 0);
  const context = { pool, now: () => new Date(), settlementOverloads: 'spec' } as const
  await settle(
    derivations.filter(({ kind }) => ['escrow hours', 'income hours'].includes(kind)),
    context,
  )
  const { rows } = await pool.query(`select distinct kind from due where kind ~ 'escrow|hours'`)
  expect(rows).toEqual([{ kind: 'escrows' }])
  const hour = new Date(Math.floor(+timeOf(700) / (60 * minute)) * 60 * minute).toISOString()
  expect(await dues()).toEqual([hour, hour])
  await income()
  expect(await dues()).toEqual([null, null])
})

test('all rows of a payment have the flag of its first charge, whenever that comes or goes', async () => {
  const { pool } = database
  const buyer = Buffer.from(addressOf('buyer').slice(2), 'hex')
  await pool.query('delete from payment')
  await insert(pool, 'income_owner', {
    fid,
    address: buyer,
    because: 'wallet',
    from_at: timeOf(100),
    to_at: 'infinity',
  })
  const flags = async () => {
    await income()
    const { rows } = await pool.query('select flag, sum(amount)::int as amount from income_hour group by 1 order by 1')
    return rows
  }
  await store(seller, 'late', 130, 100n)
  await store(seller, 'late', 200, -30n)
  expect(await flags()).toEqual([{ flag: 'same_owner', amount: 70 }])
  await store(seller, 'late', 40, 5n)
  expect(await flags()).toEqual([{ flag: 'none', amount: 75 }])
  await pool.query('delete from payment where block_number = 40')
  expect(await flags()).toEqual([{ flag: 'same_owner', amount: 70 }])
})
