import { beforeAll, expect, test } from 'vitest'
import type { Queryable } from '../../db/pool.ts'
import { agentIncome } from '../../db/queries/income/agent-income.ts'
import { deriveDemandOf } from '../../db/queries/income/demand.ts'
import { incomePayments } from '../../db/queries/income/payments.ts'
import { rollUpSettlements } from '../../enrichment/periodic/rollup.ts'
import { testDatabase } from '../support/database.ts'
import { rowsRead } from '../support/rows-read.ts'
import { addressOf, birth, hashOf, insert, seedAgent, seedChainState, seedPayment } from '../support/seed.ts'
import { runIncome, sumDueHours } from './passes.ts'

// A stranger deposits what is worth nothing in a channel to an agent, in the name of its buyer, as often as the gas is worth it.

const deposits = 30_000
/** Small tables are read whole. */
const few = 1_500
const fid = 1
const seller = addressOf('seller')
const buyer = addressOf('buyer')
const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
const database = testDatabase()

beforeAll(async () => {
  const { pool } = database
  await seedAgent(pool, { fid, addresses: [seller] })
  await insert(pool, 'agent_change', { fid, kind: 'upsert', changed_at: birth })
  await insert(pool, 'chain_contract', { chain: 'base', address: addressOf('token'), from_block: 0 })
  await seedChainState(pool, { chain: 'base', indexed: 90_000, finalized: 80_000 })
  for (const block of [100, 70_000]) {
    const row = { payer: buyer, payee: seller, amount: 5n, block, at: birth, subject: hashOf('channel') }
    await seedPayment(pool, { ...row, kind: 'batch_claim' })
  }
  await pool.query(
    `insert into payment (id, chain, block_number, log_index, block_timestamp, kind, token, payer, payee, gross, net,
                          facilitator, tx_hash, subject)
     select 'deposit-' || n, 'base', 1000 + n, 0, $1, 'batch_deposit', '\\x01', $2, $3, 1, 0, $3, int4send(n), int4send(n)
       from generate_series(1, $4::int) n`,
    [birth, bytes(buyer), bytes(seller), deposits],
  )
  // Nothing was paid out of these channels, so nobody's payer is to be found: no statement writes payments.
  await pool.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'written'; end $$;
    create trigger refused before insert or delete on payment for each statement execute function refuse()`)
  while ((await rollUpSettlements({ pool })) + (await runIncome({ pool })) > 0);
  await pool.query('drop trigger refused on payment')
  await pool.query('vacuum analyze')
})

const filter = { chain: null, since: null, until: null }
test.for<[string, (db: Queryable) => Promise<unknown>]>([
  ['the income', (db) => agentIncome(db, fid)],
  ['a page of payments', (db) => incomePayments(db, { fid, limit: 100, order: 'desc', filter })],
  ['the demand', (db) => deriveDemandOf(db, fid, birth)],
  [
    'an hour',
    async (db) => {
      await db.query(
        `insert into due (kind, key)
         select 'income hours', encode($1, 'hex') || ':base:' || floor(extract(epoch from $2::timestamptz) / 3600)::bigint`,
        [bytes(seller), birth],
      )
      expect(await sumDueHours(db, { hours: 500, payments: 50_000 })).toBe(1)
    },
  ],
  ['a payment that goes', (db) => db.query('delete from payment where block_number = 70000')],
])('%s reads none of them', async ([, ask]) => {
  expect(await rowsRead(database.pool, ask)).toBeLessThan(few)
})

test('the payers are told', async () => {
  const { members } = await agentIncome(database.pool, fid)
  expect(JSON.parse(members.payers ?? '')).toEqual({ raw: 1, filtered: 1 })
})
