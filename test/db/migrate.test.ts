import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrate } from '../../db/migrate.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

test('a migrated database has nothing left to do, however many ask at once', async () => {
  const ran = await Promise.all(Array.from({ length: 4 }, () => migrate(database.url)))
  expect(ran).toEqual([[], [], [], []])
})

test('several callers on an empty database apply every migration exactly once', async () => {
  await database.pool.query('drop schema public cascade; create schema public')
  const ran = await Promise.all(Array.from({ length: 4 }, () => migrate(database.url)))
  const { rows } = await database.pool.query('select name from schema_migration order by name')
  expect(ran.flat().sort()).toEqual(rows.map((row) => row.name))
  expect(rows.length).toBeGreaterThan(0)
})

test('a migration that changed after it ran is refused by name', async () => {
  await database.pool.query(`update schema_migration set sha256 = 'other' where name = '0001_registrations.sql'`)
  await expect(migrate(database.url)).rejects.toThrow(/0001_registrations\.sql was applied with other content/)
})

test('a database of a newer version is refused by the name of what it holds', async () => {
  await database.pool.query(`insert into schema_migration (name, sha256) values ('9999_future.sql', 'x')`)
  await expect(migrate(database.url)).rejects.toThrow(/newer than this program: it holds 9999_future\.sql/)
})
