import { expect, test } from 'vitest'
import { addChains, chainNames, chainOf } from '../../chains.config.ts'
import { ensurePartitions } from '../../db/queries/chain/partitions-ahead.ts'
import { testDatabase } from '../support/database.ts'

const database = testDatabase()

test('every chain of the table that has a token has its partition of settlements, and no other has', async () => {
  const { rows } = await database.pool.query<{ name: string }>(
    `select child.relname as name
       from pg_inherits
       join pg_class child on child.oid = inhrelid
      where inhparent = 'settlement'::regclass
      order by 1`,
  )
  const expected = chainNames.filter((name) => chainOf(name).tokens.length > 0).map((name) => `settlement_${name}`)
  expect(rows.map(({ name }) => name)).toEqual(expected.sort())
})

test('a chain whose partition would have the name of another table is refused', async () => {
  addChains({ hourly: chainOf('gnosis') })
  await expect(ensurePartitions(database.pool, 'hourly', 0)).rejects.toThrow(
    'settlement_hourly is a table already, so no chain can have that name',
  )
})
