import { beforeAll, expect, test } from 'vitest'
import type { Queryable } from '../../db/pool.ts'
import { rollUpSettlements } from '../../enrichment/periodic/rollup.ts'
import { testDatabase } from '../support/database.ts'
import { rowsFetched, rowsRead } from '../support/rows-read.ts'
import { addressOf, birth, insert, seedAgent, seedChainState } from '../support/seed.ts'
import { runIncome } from './passes.ts'

// Payments that are passed on, a thousand at once. Rows are counted: with one look at each for each other there would be a million.

const blocks = 1_000
const fid = 1
const seller = addressOf('seller')
const shop = addressOf('shop')
const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
const database = testDatabase()

const statistics = {
  'of these rows': 'analyze payment, settlement',
  // Of tables that were emptied of many rows, before they were filled again.
  'of none of these rows': `update pg_class set relpages = 1000, reltuples = 1
                             where oid = 'payment'::regclass
                                or oid in (select relid from pg_partition_tree('settlement') where isleaf)`,
}

/** A payment to the shop in each block, or what the shop passed on of it to the seller. */
const insertRows = (db: Queryable, passedOn: boolean) =>
  db.query(
    `insert into payment (id, chain, block_number, log_index, block_timestamp, kind, token, payer, payee, gross, net,
                          facilitator, tx_hash, forwarder, origin_log_index, depth)
     select 'base-' || n || '-' || $1::int, 'base', n, $1, $2::timestamptz + n * interval '1 minute',
            case when $1 = 0 then 'permit2_exact' else 'forwarded' end, $3, $4, $5, 10, 10, $4, int4send(n), $6, $7::int, $7
       from generate_series(1, ${blocks}) n`,
    [
      passedOn ? 1 : 0,
      birth,
      bytes(addressOf('token')),
      bytes(addressOf('buyer')),
      bytes(passedOn ? seller : shop),
      passedOn ? bytes(shop) : null,
      passedOn ? 0 : null,
    ],
  )

beforeAll(async () => {
  const { pool } = database
  await seedAgent(pool, { fid, addresses: [seller] })
  await insert(pool, 'agent_change', { fid, kind: 'upsert', changed_at: birth })
  await insert(pool, 'chain_contract', { chain: 'base', address: addressOf('token'), from_block: 0 })
  await seedChainState(pool, { chain: 'base', indexed: blocks, finalized: blocks })
  while ((await rollUpSettlements({ pool })) + (await runIncome({ pool })) > 0);
})

const names = Object.keys(statistics) as (keyof typeof statistics)[]

test.each(names)('mark their hours with so many rows read for each at most by statistics %s', async (name) => {
  const read = await rowsRead(
    database.pool,
    async (db) => {
      await insertRows(db, false)
      await db.query(statistics[name])
      await insertRows(db, true)
      const { rows } = await db.query(`select count(distinct key)::int as hours from due where kind = 'income hours'`)
      expect(rows).toEqual([{ hours: Math.ceil((blocks + 1) / 60) }])
    },
    ['payment'],
  )
  expect(read).toBeLessThan(20 * blocks)
})

/** A settlement to the seller in each block, behind a payment to it. */
const insertPaid = async (db: Queryable) => {
  await db.query(
    `insert into payment (id, chain, block_number, log_index, block_timestamp, kind, token, payer, payee, gross, net,
                          facilitator, tx_hash)
     select 'base-' || n || '-0', 'base', n, 0, $1::timestamptz + n * interval '1 minute', 'escrow_charge', $2, $3, $4, 10, 10,
            $3, int4send(n)
       from generate_series(1, ${blocks}) n`,
    [birth, bytes(addressOf('token')), bytes(addressOf('buyer')), bytes(seller)],
  )
  await db.query(
    `insert into settlement (chain, block_number, log_index, block_timestamp, amount, selector_source, selector, token, payer,
                             recipient, facilitator, payment_nonce, tx_hash)
     select 'base', n, 1, $1::timestamptz + n * interval '1 minute', 10, 'c', '\\xe3ee160e', $2, $3, $4, $3, int4send(n), int4send(n)
       from generate_series(1, ${blocks}) n`,
    [birth, bytes(addressOf('token')), bytes(addressOf('buyer')), bytes(seller)],
  )
}

test.each(names)(
  'have their hours marked when builder codes of them come, with so many rows read for each at most by statistics %s',
  async (name) => {
    const coded = 30
    const tables = ['payment', 'settlement%']
    await rowsRead(database.pool, async (db) => {
      await insertPaid(db)
      await db.query(statistics[name])
      await db.query('delete from due')
      const before = await rowsFetched(db, tables)
      await db.query(
        `insert into builder_code (id, chain, block_number, log_index, services)
           select 'base-' || n || '-' || log, 'base', n, log, '{}' from generate_series(1, ${coded}) n, generate_series(0, 1) log`,
      )
      expect((await rowsFetched(db, tables)) - before).toBeLessThan(20 * coded)
      const { rows } = await db.query(`select count(distinct key)::int as hours from due where kind = 'income hours'`)
      expect(rows).toEqual([{ hours: Math.ceil((coded + 1) / 60) }])
    })
  },
)
