import { afterAll, beforeAll, expect, test } from 'vitest'
import { chainNames, chainOf } from '../../chains.config.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

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
