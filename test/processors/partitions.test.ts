import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ensurePartitions } from '../../db/queries/chain/partitions-ahead.ts'
import { Progress } from '../../processors/progress.ts'
import { keepPartitionsAhead } from '../../processors/store/partitions.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { addressOf, seedSettlement } from '../support/seed.ts'
import { until } from '../support/until.ts'

const log = pino({ level: 'silent' })

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

async function partitionOf(block: number): Promise<string> {
  const { rows } = await database.pool.query(
    'select tableoid::regclass::text as partition from settlement where block_number = $1',
    [block],
  )
  return rows[0].partition
}
const exists = async (name: string) =>
  (await database.pool.query('select to_regclass($1) is not null as there', [name])).rows[0].there

test('rows of a head beyond all partitions find theirs made', async () => {
  expect(await exists('settlement_base_0175')).toBe(false)
  const progress = new Progress()
  progress.seeHead(160_000_000)
  keepPartitionsAhead(database.url, 'base', progress, log)
  await until('the partitions are made', () => exists('settlement_base_0175'))
  for (const [block, partition] of [
    [104_999_999, 'settlement_base_0100'],
    [105_000_000, 'settlement_base_0105'],
    [160_000_000, 'settlement_base_0160'],
    [179_999_999, 'settlement_base_0175'],
    [180_000_000, 'settlement_base_rest'],
  ] as const) {
    await seedSettlement(database.pool, { chain: 'base', recipient: addressOf('recipient'), block })
    expect(await partitionOf(block)).toBe(partition)
  }
})

test('a chain that is not divided by blocks needs none', async () => {
  const count = async () => (await database.pool.query('select count(*)::int from pg_inherits')).rows[0].count
  const before = await count()
  await ensurePartitions(database.pool, 'arbitrum', 900_000_000)
  expect(await count()).toBe(before)
})
