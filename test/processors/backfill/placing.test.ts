import type pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { readChains } from '../../../config/chains.file.ts'
import { readStaging } from '../../../db/queries/chain/staging-partitions.ts'
import { abandonRange } from '../../../processors/backfill/abandon.ts'
import { reserveRange } from '../../../processors/backfill/reservation.ts'
import { placePartition } from '../../../processors/backfill/staging-placement.ts'
import { placeUnderReader } from '../../support/chain/placing.ts'
import { createTestDatabase } from '../../support/database.ts'
import { rounds } from '../../support/rounds.ts'
import { until } from '../../support/until.ts'

const { base } = readChains({ env: {} })
/** Tens of thousands of rows that the processor has written. */
const tenThousands = rounds(10, 30)

test('while a partition that the processor writes is placed nobody waits for a second, and no row is lost', {
  tags: ['rounds'],
  timeout: 1_800_000,
}, async () => {
  const { rows, expected, stuck, slowest, slowestOfAny, answers } = await placeUnderReader(tenThousands * 10_000)
  expect(rows).toBe(expected)
  expect(stuck).toBe(0)
  expect(slowest).toBeLessThan(slowestOfAny + 1_000)
  expect(answers).toBeGreaterThan(10)
})

test('rows of another backfill that share the partition come along, and leave it when that one is abandoned', async () => {
  const { pool, drop } = await createTestDatabase()
  onTestFinished(drop)
  const own = (await reserveRange(pool, base, { fromBlock: 100, toBlock: 199 }, 1))!
  const other = (await reserveRange(pool, base, { fromBlock: 300, toBlock: 399 }, 1))!
  const [staging] = await readStaging(pool, own.id)
  if (!staging) throw new Error('no partition has a staging table')
  const add = (table: string, block: number) =>
    pool.query(
      `insert into ${table} (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token,
                             payer, recipient, facilitator, payment_nonce, tx_hash)
       values (1, now(), $1, 0, 'base', 'c', '\\x00', '\\x00', '\\x00', '\\x00', '\\x00', '\\x00', '\\x00')`,
      [block],
    )
  for (const block of [110, 190]) await add(staging.table, block)
  for (const block of [320, 340]) await add('settlement', block)
  await pool.query('update backfill_shard set next_block = 350 where backfill_id = $1', [other.id])
  const blocks = async () => {
    const { rows } = await pool.query('select block_number::int as block from settlement order by 1')
    return rows.map(({ block }) => block)
  }
  const broken = placePartition(breakingBefore(pool, 'lock table only'), base, staging)
  await expect(broken).rejects.toThrow('interrupted')
  expect((await pool.query(`select copied::text from backfill_partition`)).rows).toEqual([{ copied: '{[300,350)}' }])
  await abandonRange(pool, base, { fromBlock: 300, toBlock: 399 })
  await placePartition(pool, base, staging)
  expect(await blocks()).toEqual([110, 190])
})

test('a partition whose indexes were interrupted has each of them once in the end', async () => {
  const { pool, drop } = await createTestDatabase()
  onTestFinished(drop)
  const { id } = (await reserveRange(pool, base, { fromBlock: 100, toBlock: 199 }, 1))!
  const [staging] = await readStaging(pool, id)
  if (!staging) throw new Error('no partition has a staging table')
  await pool.query('update backfill_shard set next_block = last_block + 1')
  const broken = placePartition(breakingBefore(pool, `create index on "${staging.table}" (facilitator`), base, staging)
  await expect(broken).rejects.toThrow('interrupted')
  await until('the other half of the indexes is there', async () => (await indexesOf(pool, staging.table)).length > 0)
  await placePartition(pool, base, staging)
  const parent = await indexesOf(pool, 'settlement')
  expect(await indexesOf(pool, staging.partition)).toEqual(parent)
  expect(parent.length).toBeGreaterThan(3)
})

/** The indexes of a table without their names, sorted. */
async function indexesOf(pool: pg.Pool, table: string): Promise<string[]> {
  const { rows } = await pool.query<{ text: string }>(
    `select regexp_replace(pg_get_indexdef(indexrelid), '^.* USING', '') as text from pg_index
      where indrelid = $1::regclass order by 1`,
    [table],
  )
  return rows.map(({ text }) => text)
}

/** A pool whose connections fail every statement that starts with `statement`. */
function breakingBefore(pool: pg.Pool, statement: string): pg.Pool {
  const connect = async () => {
    const client = await pool.connect()
    const query = (text: string, ...rest: unknown[]) =>
      String(text).startsWith(statement)
        ? Promise.reject(new Error('interrupted'))
        : client.query(text, ...(rest as [unknown[]]))
    return { query, release: () => client.release() }
  }
  return { query: pool.query.bind(pool), connect } as unknown as pg.Pool
}
