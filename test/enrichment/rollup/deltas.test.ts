import type pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { maxBlock } from '../../../db/block-range.ts'
import { inTransaction } from '../../../db/pool.ts'
import { deleteNewestSettlements, deleteSums } from '../../../db/queries/chain/reset.ts'
import { addMovedToRollup, lockRollup, subtractFromRollup } from '../../../db/queries/rollup/cursor.ts'
import { type MovedSettlement, movedColumns } from '../../../db/queries/rollup/sums.ts'
import { testDatabase } from '../../support/database.ts'
import { insert } from '../../support/seed.ts'
import { expectExactTables, finalize, rollUp } from './world.ts'

// What a change of a few rows reads, in a world where one recipient was paid, one payer paid and one sender sent most of all.

const database = testDatabase()
const token = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
const most = 30_000
/** More than small tables have, which are read whole. */
const few = 1_000

beforeAll(async () => {
  const { pool } = database
  await insert(pool, 'chain_contract', { chain: 'base', address: token, from_block: 0 })
  // Every hundredth is of another payer and sender, every thousandth of another recipient.
  await pool.query(
    `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token, payer,
                             recipient, facilitator, payment_nonce, tx_hash)
     select n % 7, timestamptz '2026-03-01Z' + n / 2 * interval '7 seconds', n / 2, n % 2, 'base', 'c', '\\xe3ee160e', '\\x01',
            case when n % 100 = 0 then int4send(n / 200) else '\\xaa' end,
            case when n % 1000 = 0 then int4send(n) else '\\xbb' end,
            case when n % 100 = 0 then '\\x01'::bytea else '\\xcc' end, int4send(n), int4send(n)
       from generate_series(1, $1::int) n`,
    [most],
  )
  // A pair whose only settlements are the first and the last but one of all.
  await pool.query(
    `update settlement set payer = '\\xdd', facilitator = '\\xee' where (block_number, log_index) in ((0, 1), (14999, 0))`,
  )
  await pool.query('vacuum analyze settlement')
  await finalize(database, 'base', 4_000_000)
  await rollUp(database, 100_000)
  await expectExactTables(database)
  await pool.query('vacuum analyze')
})

/** Runs a change in a transaction and returns how many rows of settlements, payments and sums it read. */
async function rowsRead(change: (db: pg.PoolClient) => Promise<void>): Promise<number> {
  return inTransaction(database.pool, async (db) => {
    await lockRollup(db, 'base')
    const before = await readSoFar(db) // by this session, as far as it has not told the server yet
    await change(db)
    return (await readSoFar(db)) - before
  })
}

async function readSoFar(db: pg.PoolClient): Promise<number> {
  const { rows } = await db.query<{ read: number }>(
    `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_xact_user_tables
      where relname ~ '^(settlement|facilitator_total|payment)'`,
  )
  return rows[0]?.read ?? 0
}

const remove = async (db: pg.PoolClient, block: number, index: number) => {
  const { rows } = await db.query<MovedSettlement>(
    `delete from settlement where chain = 'base' and block_number = $1 and log_index = $2 returning ${movedColumns}`,
    [block, index],
  )
  await subtractFromRollup(db, 'base', rows)
  return rows
}

test.for([
  ['in the middle', 7_000, 1],
  ['the first of its recipient, payer and sender', 0, 1],
  ['the last of its recipient, payer and sender', 15_000, 0],
  ['the last but one, of a payer who paid once before', 14_999, 0],
  ['the last of a payer with few', 14_950, 0],
] as const)('a row that goes, %s, is taken off without its recipient being counted again', async ([, block, index]) => {
  let gone: MovedSettlement[] = []
  expect(
    await rowsRead(async (db) => {
      gone = await remove(db, block, index)
    }),
  ).toBeLessThan(few)
  expect(gone).toHaveLength(1)
  await expectExactTables(database)
  const back = async (db: pg.PoolClient) => {
    const { rows } = await db.query<MovedSettlement>(
      `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token, payer,
                               recipient, facilitator, payment_nonce, tx_hash)
       values ($1, $2, $3, $4, 'base', 'c', '\\xe3ee160e', '\\x01', $5, $6, $7, '\\x01', '\\x01') returning ${movedColumns}`,
      [gone[0]?.amount, gone[0]?.at, block, index, gone[0]?.payer, gone[0]?.recipient, gone[0]?.facilitator],
    )
    await addMovedToRollup(db, 'base', rows)
  }
  expect(await rowsRead(back)).toBeLessThan(few)
  await expectExactTables(database)
})

test('a reset reads about as much as it removes', async () => {
  const removed = 500
  const read = await rowsRead(async (db) => {
    const gone = await deleteNewestSettlements(db, 'base', { fromBlock: 0, toBlock: maxBlock }, removed)
    expect(gone.length).toBeGreaterThanOrEqual(removed)
    expect(gone.length).toBeLessThan(removed + 5)
    await subtractFromRollup(db, 'base', gone)
  })
  expect(read).toBeLessThan(20 * removed)
  await expectExactTables(database)
})

test('a reset of the whole chain looks its agents up once for a recipient, whoever paid it', async () => {
  const { pool } = database
  const recipients = await pool.query('select distinct recipient from settlement_payer')
  const pairs = await pool.query(`select * from settlement_payer where recipient = '\\xbb'`)
  expect(pairs.rows.length).toBeGreaterThan(4 * recipients.rows.length)
  const db = await pool.connect()
  try {
    await db.query('begin')
    await db.query(
      `insert into figure_derivation (fid, addresses, overloads, counted) values (5, '{"\\\\xbb"}', true, true)`,
    )
    const lookups = async () =>
      (
        await db.query<{ n: number }>(
          `select (seq_scan + idx_scan)::int as n from pg_stat_xact_user_tables where relname = 'figure_derivation'`,
        )
      ).rows[0]?.n ?? 0
    const before = await lookups()
    await deleteSums(db, 'base')
    expect((await lookups()) - before).toBeLessThan(2 * recipients.rows.length)
    const noted = await db.query(`select * from payer_move where fid = 5 and back and recipient = '\\xbb'`)
    expect(noted.rows).toHaveLength(pairs.rows.length)
  } finally {
    await db.query('rollback')
    db.release()
  }
})

test('a payment that goes is taken off its pair without the payments of its payee being counted again', async () => {
  const { pool } = database
  await pool.query(
    `insert into payment (id, chain, block_number, log_index, block_timestamp, kind, token, payer, payee, gross, net, facilitator, tx_hash)
     select 'p' || n, 'base', 3000000 + n / 2, n % 2, timestamptz '2026-03-01Z' + n / 2 * interval '7 seconds', 'permit2_exact', '\\x${token.slice(2)}',
            case when n % 100 = 0 then int4send(n / 200) else '\\xaa' end, '\\xbb', 5, 5, '\\xcc', '\\x01'
       from generate_series(1, 20000) n`,
  )
  await pool.query('analyze payment')
  const differing = async () =>
    (
      await pool.query(
        `select * from payment_sum
           full join (select payee, payer, chain, coalesce(funder, '') as funder, min(block_timestamp) as first_at, max(block_timestamp) as last_at, sum(net) as amount, 0 as fees
                        from payment_summed group by 1, 2, 3, 4) counted using (payee, payer, chain, funder)
          where (payment_sum.first_at, payment_sum.last_at, payment_sum.amount, payment_sum.fees)
                is distinct from (counted.first_at, counted.last_at, counted.amount, counted.fees)`,
      )
    ).rows
  expect(await differing()).toEqual([])
  const { rows } = await pool.query('select count(*)::int as sums from payment_sum')
  expect(rows[0].sums).toBeGreaterThan(100)
  for (const id of ['p1', 'p10001', 'p19999', 'p19900', 'p200']) {
    const read = await rowsRead(async (db) => {
      await db.query('delete from payment where id = $1', [id])
    })
    expect(read, id).toBeLessThan(few)
    expect(await differing(), id).toEqual([])
  }
})
