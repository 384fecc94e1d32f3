import { expect, onTestFinished, test } from 'vitest'
import { migrate } from '../../db/migrate.ts'
import { createTestDatabase } from '../support/database.ts'
import { createBefore } from '../support/schema/before.ts'

test('what waited in a queue of a database of before is due', async () => {
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  await createBefore(database.url)
  const { pool } = database
  await pool.query(`insert into income_ring_due (address) values ('\\x0a'), ('\\x0b')`)
  await migrate(database.url)
  const { rows } = await pool.query('select kind, key from due where due_at <= now() order by kind, key')
  expect(rows.map(({ kind, key }) => `${kind} ${key}`)).toEqual(['rings 0a', 'rings 0b'])
})
