import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { inTransaction } from '../../db/pool.ts'
import { cutPasses, movePass, readPasses } from '../../db/queries/chain/payments/payment-passes.ts'
import { testDatabase } from '../support/database.ts'

const database = testDatabase()

const migration = new URL('../../db/migrations/1101_payment_pass.sql', import.meta.url)
const step = { fromBlock: 0, payments: 2, amount: 5n, checksum: 2n ** 64n - 1n, firstHash: '0x01', lastHash: '0x02' }
const places = async () =>
  (await readPasses(database.pool, 'base')).map(({ fromBlock, toBlock, nextBlock }) => [fromBlock, toBlock, nextBlock])

test('a database that was filled before has a pass for all blocks that were read', async () => {
  const text = await readFile(migration, 'utf8')
  await inTransaction(database.pool, async (db) => {
    await db.query('drop table payment_pass')
    await db.query(
      `insert into chain_state (chain, chain_id, indexed_block, finalized_block, head_block, updated_at)
       values ('base', 8453, 100, 90, 100, now()), ('gnosis', 100, 50, 40, 50, now())`,
    )
    await db.query(`insert into backfill (chain, from_block, to_block) values ('base', 101, 200), ('celo', 7, 9)`)
    await db.query(
      `insert into backfill_shard (backfill_id, first_block, last_block, next_block)
       select id, from_block + part * 50, from_block + part * 50 + 49, from_block + part * 50 + 10
         from backfill, generate_series(0, 1) part where chain = 'base'`,
    )
    await db.query(text)
  })
  const { rows } = await database.pool.query('select * from payment_pass order by chain, from_block')
  expect(rows.map(({ chain, from_block, to_block, next_block }) => [chain, from_block, to_block, next_block])).toEqual([
    ['base', 0, 110, 0],
    ['base', 151, 160, 151],
  ])
})

test('a pass moves from where it stands, and not beyond its end', async () => {
  expect(await movePass(database.pool, 'base', { ...step, from: 1, nextBlock: 50 })).toBe(false)
  expect(await movePass(database.pool, 'base', { ...step, from: 0, nextBlock: 112 })).toBe(false)
  expect(await movePass(database.pool, 'base', { ...step, from: 0, nextBlock: 50 })).toBe(true)
  expect(await movePass(database.pool, 'base', { ...step, from: 50, nextBlock: 111, firstHash: '0x03' })).toBe(true)
  const [pass] = await readPasses(database.pool, 'base')
  expect(pass).toMatchObject({ nextBlock: 111, firstHash: '0x01', lastHash: '0x02', payments: 4, amount: 10n })
  expect(pass?.checksum).toBe(2n ** 64n - 2n)
})

test('a chain that is taken back takes its passes with it', async () => {
  await cutPasses(database.pool, 'base', 155)
  expect(await places()).toEqual([
    [0, 110, 111],
    [151, 155, 151],
  ])
  await cutPasses(database.pool, 'base', 80)
  expect(await places()).toEqual([[0, 80, 0]])
  expect((await readPasses(database.pool, 'base'))[0]).toMatchObject({ payments: 0, firstHash: null, checksum: 0n })
  await cutPasses(database.pool, 'base', -1)
  expect(await places()).toEqual([])
})
