import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { migrate } from '../../db/migrate.ts'
import { readSchema } from '../../db/schema-files.ts'
import { createTestDatabase, testDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const database = testDatabase()

test('a migrated database has nothing left to do, however many ask at once', async () => {
  const ran = await Promise.all(Array.from({ length: 4 }, () => migrate(database.url)))
  expect(ran).toEqual([[], [], [], []])
})

test('several callers on an empty database apply the schema exactly once', async () => {
  await database.pool.query('drop schema public, directory cascade; create schema public')
  const ran = await Promise.all(Array.from({ length: 4 }, () => migrate(database.url)))
  const { repeatable } = await readSchema()
  expect(ran.filter((names) => names.length > 0)).toEqual([['schema', ...repeatable.map(({ name }) => name)]])
})

test('a database of a newer version is refused by the name of what it holds', async () => {
  await database.pool.query(`insert into schema_migration (name, sha256) values ('9999_future.sql', 'x')`)
  await expect(migrate(database.url)).rejects.toThrow(/newer than this program: it holds 9999_future\.sql/)
})

/** URL of a temporary folder with these migrations. */
async function migrationsOf(files: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), 'agent-directory-migrations-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const [name, sql] of Object.entries(files)) await writeFile(join(folder, name), sql)
  return pathToFileURL(`${folder}/`)
}
const quick = { lockTimeoutMs: 500, pauseMs: 50, totalMs: 30_000 }

/** A database with today's schema that knows of no migration. */
async function databaseOfSchema() {
  const one = await createTestDatabase()
  onTestFinished(() => one.drop())
  await one.pool.query(`delete from schema_migration where name !~ '^schema'`)
  return one
}

test('a migration runs once where the schema is, and not where the schema is made; changed, it is refused', async () => {
  const folder = await migrationsOf({ '9_thing.sql': 'create table thing (id int);' })
  const { url, pool } = await databaseOfSchema()
  expect(await migrate(url, { migrations: folder })).toEqual(['9_thing.sql'])
  expect(await migrate(url, { migrations: folder })).toEqual([])
  const isThere = async () => (await pool.query(`select to_regclass('thing') is not null as there`)).rows[0].there
  expect(await isThere()).toBe(true)
  await pool.query('drop schema public, directory cascade; create schema public')
  expect(await migrate(url, { migrations: folder })).not.toContain('9_thing.sql')
  expect(await isThere()).toBe(false)
  await expect(migrate(url)).rejects.toThrow(/newer than this program: it holds 9_thing\.sql/)
  const changed = await migrationsOf({ '9_thing.sql': 'create table thing (id bigint);' })
  await expect(migrate(url, { migrations: changed })).rejects.toThrow(/9_thing\.sql was applied with other content/)
})

test('a view is made again when its text is new, or when a migration has taken it away', async () => {
  const { url, pool } = await databaseOfSchema()
  const view = 'schema/directory/indexing/streams.sql'
  const columns = async () => {
    const { rows } = await pool.query(
      `select attname as name, col_description(attrelid, attnum) as comment from pg_attribute
        where attrelid = 'directory.streams'::regclass order by attnum`,
    )
    return rows
  }
  const made = await columns()
  const [first] = made
  await pool.query(`comment on column directory.streams.${first.name} is 'an older text'`)
  await pool.query(`update schema_migration set sha256 = 'older' where name = $1`, [view])
  expect(await migrate(url, { migrations: await migrationsOf({}) })).toEqual([view])
  expect(await columns()).toEqual(made)
  const gone = `drop view directory.streams; delete from schema_migration where name = '${view}';`
  const folder = await migrationsOf({ '1_streams.sql': gone })
  expect(await migrate(url, { migrations: folder })).toEqual(['1_streams.sql', view])
  expect(await columns()).toEqual(made)
})

test('a migration waits for a lock in short tries, so that readers get between, and says who holds it', async () => {
  const { url, pool } = await databaseOfSchema()
  await pool.query('create table thing (id int)')
  const folder = await migrationsOf({ '1_column.sql': 'alter table thing add column name text;' })
  const reader = await pool.connect()
  await reader.query('begin; select from thing')
  const notices: string[] = []
  const migrated = migrate(url, { migrations: folder, lockRetry: quick, onNotice: (text) => notices.push(text) })
  // Who holds it is asked over a connection of its own, which a busy server may give too late for a short try.
  const naming = () => notices.find((text) => text.includes('held by'))
  await until(
    'it was tried three times and says who holds it',
    async () => notices.length >= 3 && naming() !== undefined,
  )
  await pool.query({ text: 'select from thing', query_timeout: 20_000 } as never)
  expect(naming()).toMatch(
    /^migration 1_column\.sql does not get a lock and will be retried: .*lock timeout; held by pid \d+ \(test, idle in transaction\)$/,
  )
  await reader.query('rollback')
  reader.release()
  expect(await migrated).toEqual(['1_column.sql'])
})

test('a migration that never gets its lock ends with one line and leaves nothing behind', async () => {
  const { url, pool } = await databaseOfSchema()
  await pool.query('create table thing (id int)')
  const folder = await migrationsOf({
    '1_column.sql': 'create table other (id int); alter table thing add column name text;',
  })
  const reader = await pool.connect()
  await reader.query('begin; select from thing')
  await expect(
    migrate(url, { migrations: folder, lockRetry: { ...quick, lockTimeoutMs: 1_000, totalMs: 1_500 } }),
  ).rejects.toThrow(
    /^migration 1_column\.sql failed and left nothing behind: .*lock timeout; held by pid \d+ \(test, idle in transaction\)$/,
  )
  await reader.query('rollback')
  reader.release()
  const { rows } = await pool.query(
    `select to_regclass('other') as other, (select count(*)::int from schema_migration where name = '1_column.sql')`,
  )
  expect(rows).toEqual([{ other: null, count: 0 }])
})

test('an index is built concurrently while another process waits to migrate', async () => {
  const { url, pool } = await databaseOfSchema()
  await pool.query('create table thing (id int)')
  const folder = await migrationsOf({
    '1_index.sql':
      '-- outside a transaction\n-- Found by name.\ndrop index concurrently if exists thing_id;\n' +
      'create index concurrently thing_id on thing (id);\n',
  })
  const writer = await pool.connect()
  await writer.query('begin; insert into thing values (1)')
  const waiting: string[] = []
  const first = migrate(url, { migrations: folder })
  await until('the index waits for the writer', async () => {
    const { rows } = await pool.query(
      `select from pg_stat_activity where wait_event_type = 'Lock' and query ~ '^create'`,
    )
    return rows.length === 1
  })
  const second = migrate(url, { migrations: folder, onNotice: (text) => waiting.push(text) })
  await until('the second waits for the first', async () => waiting.length === 1)
  await writer.query('commit')
  writer.release()
  expect(await Promise.all([first, second])).toEqual([['1_index.sql'], []])
  expect(waiting).toEqual(['waiting for another migration to end'])
  const { rows } = await pool.query(`select indisvalid from pg_index where indexrelid = 'thing_id'::regclass`)
  expect(rows).toEqual([{ indisvalid: true }])
})

test('what would keep readers waiting is refused outside a transaction', async () => {
  const { url, pool } = await databaseOfSchema()
  await pool.query('create table thing (id int)')
  const folder = await migrationsOf({ '1_column.sql': '-- outside a transaction\nalter table thing add name text;\n' })
  await expect(migrate(url, { migrations: folder })).rejects.toThrow(
    'migration 1_column.sql runs outside a transaction, where this may not: alter table thing add name text',
  )
})
