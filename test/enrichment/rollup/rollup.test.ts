import { afterEach, expect, onTestFinished, test } from 'vitest'
import { amendChain } from '../../../config/chains.ts'
import { ensureChainRows } from '../../../db/chain-rows.ts'
import { inTransaction, type Queryable } from '../../../db/pool.ts'
import { addToRollup, lockRollup, rollupLags } from '../../../db/queries/rollup/cursor.ts'
import { completeUntil } from '../../../db/queries/settlements/timeseries.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf, insert, seedChainState, seedPayment } from '../../support/seed.ts'
import { until } from '../../support/until.ts'
import { empty, expectExactTables, expectExactWindows, finalize, type Paid, rollUp, store, timeOf } from './world.ts'

const database = testDatabase()
afterEach(async () => {
  await empty(database)
  await database.pool.query('drop trigger if exists refuse on settlement_rollup')
})

const one: Paid = { chain: 'base', block: 10, logIndex: 0, recipient: 0, payer: 0, selector: 0, amount: 1n }

const hours = async () =>
  (
    await database.pool.query(
      `select chain, n::int, amount::int, first_block, last_block from settlement_hourly order by hour`,
    )
  ).rows

test('a settlement is added once when the process ends between its hour and the mark that says so', async () => {
  await store(database.pool, [{ ...one, amount: 5n }])
  await finalize(database, 'base', 10)
  await database.pool.query(`
    create or replace function refuse() returns trigger language plpgsql as $$ begin raise 'gone'; end $$;
    create trigger refuse before update on settlement_rollup for each row execute function refuse()`)
  await expect(rollUpSettlements({ pool: database.pool })).rejects.toThrow('gone')
  expect(await hours()).toEqual([])
  await database.pool.query('drop trigger refuse on settlement_rollup')
  await rollUp(database, 100)
  const once = [{ chain: 'base', n: 1, amount: 5, first_block: 10, last_block: 10 }]
  expect(await hours()).toEqual(once)
  await rollUp(database, 100)
  expect(await hours()).toEqual(once)
})

test('counts are behind by the age of the oldest settlement they lack', async () => {
  const lag = async () => {
    const lags = await rollupLags(database.pool, new Date(timeOf(10).getTime() + 60_000))
    return lags.find(({ chain }) => chain === one.chain)?.seconds
  }
  await store(database.pool, [one, { ...one, block: 11 }])
  await rollUp(database, 100) // nothing is final, but there is a mark now
  expect(await lag()).toBe(60)
  await finalize(database, 'base', 10)
  await rollUp(database, 100)
  expect(await lag()).toBe(Math.max(0, 60 - (timeOf(11).getTime() - timeOf(10).getTime()) / 1_000))
  await finalize(database, 'base', 11)
  await rollUp(database, 100)
  expect(await lag()).toBe(0)
})

test('a step is bounded by payments that are no settlements, too', async () => {
  const paid = { payer: addressOf('payer'), payee: addressOf('payee'), kind: 'permit2_exact', amount: 1n } as const
  for (let block = 1; block <= 6; block++) await seedPayment(database.pool, { ...paid, block, at: timeOf(block) })
  await finalize(database, 'base', 10)
  const mark = async () => {
    await rollUpSettlements({ pool: database.pool, stepSettlements: 2 })
    const { rows } = await database.pool.query(`select next_block::int from settlement_rollup where chain = 'base'`)
    return rows[0].next_block
  }
  expect([await mark(), await mark(), await mark()]).toEqual([3, 5, 11])
  await database.pool.query('delete from payment')
})

test('what contracts pay on a chain without tokens is rolled up, and until then what is counted is late and incomplete', async () => {
  const { pool } = database
  amendChain('gnosis', { paymentContracts: [{ kind: 'permit2_exact', address: addressOf('proxy'), fromBlock: 1 }] })
  onTestFinished(async () => {
    amendChain('gnosis', { paymentContracts: [] })
    await pool.query(`delete from payment; delete from settlement_rollup where chain = 'gnosis'`)
  })
  const paid = { chain: 'gnosis', payer: addressOf('payer'), payee: addressOf('payee'), kind: 'permit2_exact' } as const
  await seedChainState(pool, { chain: 'gnosis', indexed: 20, finalized: 12 })
  await seedPayment(pool, { ...paid, amount: 3n, block: 12, at: timeOf(12) })
  const states = async () => {
    const lags = await rollupLags(pool, new Date(timeOf(12).getTime() + 60_000))
    const until = await completeUntil(pool, ['gnosis'])
    return [lags.find(({ chain }) => chain === 'gnosis')?.seconds, until]
  }
  await inTransaction(pool, ensureChainRows)
  expect(await states()).toEqual([60, timeOf(12).toISOString()])
  await rollUp(database, 100)
  expect(await states()).toEqual([0, expect.not.stringMatching(timeOf(12).toISOString())])
  const { rows } = await pool.query(`select next_block::int from settlement_rollup where chain = 'gnosis'`)
  expect(rows).toEqual([{ next_block: 13 }])
})

test('pairs that pay again get room in their pages: no index is written for them', async () => {
  const pay = (block: number, every: number) =>
    database.pool.query(
      `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token,
                               payer, recipient, facilitator, payment_nonce, tx_hash)
       select 1, $1, $2::int, n, 'base', 'c', '\\xe3ee160e', '\\x01', int4send(n), '\\x02', '\\x03', int4send(n), int4send($2)
         from generate_series(1, 2000) n where n % $3::int = 0`,
      [timeOf(block), block, every],
    )
  await pay(1, 1)
  await finalize(database, 'base', 1)
  await rollUp(database, 10_000)
  await pay(2, 20)
  const { moved, within } = await inTransaction(database.pool, async (db) => {
    await lockRollup(db, 'base')
    const before = await movesOf(db)
    await addToRollup(db, 'base', { fromBlock: 2, toBlock: 2 })
    const after = await movesOf(db)
    return { moved: after.moved - before.moved, within: after.within - before.within }
  })
  expect(moved).toBe(100)
  // Not all 100: dead rows of earlier tests fill some pages until a vacuum. Without free room it would be close to 0.
  expect(within).toBeGreaterThan(80)
})

/** Updates of settlement_payer by this transaction; `within`: those that stayed in their page (HOT). */
async function movesOf(db: Queryable): Promise<{ readonly moved: number; readonly within: number }> {
  const { rows } = await db.query(
    `select n_tup_upd::int as moved, n_tup_hot_upd::int as within
       from pg_stat_xact_user_tables where relname = 'settlement_payer'`,
  )
  return rows[0]
}

test('two jobs that roll up at once add every settlement once', async () => {
  await store(
    database.pool,
    Array.from({ length: 40 }, (_, block) => ({ ...one, block })),
  )
  await finalize(database, 'base', 39)
  await Promise.all([3, 5, 7].map((step) => rollUp(database, step)))
  expect((await hours()).reduce((sum, { n }) => sum + n, 0)).toBe(40)
  await expectExactTables(database)
  await expectExactWindows(database, timeOf(40))
})

test('a chain that somebody else holds keeps no other waiting', async () => {
  const { pool } = database
  await store(pool, [one, { ...one, chain: 'celo' }])
  for (const chain of ['base', 'celo'] as const) await finalize(database, chain, 10)
  let rolled: Promise<unknown> = Promise.resolve()
  await inTransaction(pool, async (db) => {
    await lockRollup(db, 'base')
    rolled = rollUpSettlements({ pool })
    await until('the other one was rolled up', async () => (await hours()).length === 1)
    expect(await hours()).toMatchObject([{ chain: 'celo' }])
  })
  await rolled
  expect((await hours()).map(({ chain }) => chain).sort()).toEqual(['base', 'celo'])
})

test('blocks that can still be undone are not rolled up', async () => {
  await store(database.pool, [one, { ...one, block: 11 }])
  await finalize(database, 'base', 10)
  await rollUp(database, 100)
  expect(await hours()).toMatchObject([{ n: 1, last_block: 10 }])
})

test('a backfill that still loads is rolled up as far as all its rows are there', async () => {
  const { pool } = database
  const { rows } = await pool.query(
    `insert into backfill (chain, from_block, to_block) values ('base', 0, 99) returning id`,
  )
  const id = rows[0].id as number
  for (const [first, last, next] of [
    [0, 39, 40],
    [40, 79, 60],
    [80, 99, 100],
  ]) {
    const shard = { first_block: first, last_block: last, next_block: next }
    await insert(pool, 'backfill_shard', { backfill_id: id, ...shard })
  }
  const loaded = { partition: 'settlement_base_0000', staging_table: 'staging', first_block: 30, last_block: 99 }
  await insert(pool, 'backfill_partition', { backfill_id: id, ...loaded })
  await store(
    pool,
    [10, 29, 30, 59, 60, 99].map((block) => ({ ...one, block })),
  )
  await finalize(database, 'base', 1_000)
  const counted = async () => {
    await rollUp(database, 2)
    await expectExactTables(database)
    return (await hours()).reduce((sum, { n }) => sum + n, 0)
  }
  expect(await counted()).toBe(2)
  await pool.query('delete from backfill_partition')
  expect(await counted()).toBe(4)
  await pool.query('update backfill_shard set next_block = last_block + 1')
  expect(await counted()).toBe(6)
  await pool.query('update backfill set completed_at = now()')
  expect(await counted()).toBe(6)
})

test('a chain without a mark, or whose roll-up fails, does not stop those after it', async () => {
  const { pool } = database
  await store(pool, [one, { ...one, chain: 'celo' }])
  for (const chain of ['base', 'celo'] as const) await finalize(database, chain, 10)
  await pool.query(
    `delete from settlement_rollup; alter table settlement_rollup add constraint no_base check (chain <> 'base')`,
  )
  await expect(rollUpSettlements({ pool })).rejects.toThrow(/^base is not rolled up: .*no_base/)
  expect((await hours()).map(({ chain }) => chain).sort()).toEqual(['celo'])
  await pool.query('alter table settlement_rollup drop constraint no_base')
  await rollUp(database, 100)
  expect((await hours()).map(({ chain }) => chain).sort()).toEqual(['base', 'celo'])
})
