import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { migrate } from '../../db/migrate.ts'
import { createTestDatabase, testDatabase } from '../support/database.ts'
import { insert } from '../support/seed.ts'
import { until } from '../support/until.ts'

const database = testDatabase()

test('a migrated database has nothing left to do, however many ask at once', async () => {
  const ran = await Promise.all(Array.from({ length: 4 }, () => migrate(database.url)))
  expect(ran).toEqual([[], [], [], []])
})

test('several callers on an empty database apply every migration exactly once', async () => {
  await database.pool.query('drop schema public, directory cascade; create schema public')
  const ran = await Promise.all(Array.from({ length: 4 }, () => migrate(database.url)))
  const { rows } = await database.pool.query('select name from schema_migration order by name')
  expect(ran.flat().sort()).toEqual(rows.map((row) => row.name))
  expect(rows.length).toBeGreaterThan(0)
})

test('wallets of before transactions were kept get that of the mint, or are made anew by the auditor', async () => {
  const { pool } = database
  const owner = Buffer.alloc(20, 1)
  const other = Buffer.alloc(20, 2)
  const tx = Buffer.alloc(32, 9)
  const at = new Date(0)
  for (const [id, value, block] of [
    [1, owner, 5], // as it was registered
    [2, other, 5], // by a contract, while it was minted
    [3, other, 6],
    [4, Buffer.alloc(0), 6], // taken away
  ] as const) {
    const place = { chain: 'base', agent_id: id, log_index: 1, block_timestamp: at }
    const mint = { id: `${id}`, from: null, to: owner, block_number: 5, tx_hash: tx }
    await insert(pool, 'registration_transfer', { ...place, ...mint })
    await insert(pool, 'registration_metadata', {
      ...place,
      id: `${id}`,
      key: 'agentWallet',
      value,
      block_number: block,
    })
  }
  await pool.query(await readFile(new URL('../../db/migrations/1171_wallet_tx.sql', import.meta.url), 'utf8'))
  const { rows } = await pool.query('select agent_id::int as id, tx_hash from registration_metadata order by agent_id')
  expect(rows.map(({ id, tx_hash }) => [id, tx_hash])).toEqual([
    [1, tx],
    [2, null],
    [3, null],
    [4, null],
  ])
  const noted = await pool.query('select agent_id::int as id from audit_agent order by agent_id')
  expect(noted.rows.map(({ id }) => id)).toEqual([2, 3])
})

test('a migration that changed after it ran is refused by name', async () => {
  await database.pool.query(`update schema_migration set sha256 = 'other' where name = '0001_registrations.sql'`)
  await expect(migrate(database.url)).rejects.toThrow(/0001_registrations\.sql was applied with other content/)
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

async function emptyDatabase() {
  const one = await createTestDatabase()
  onTestFinished(() => one.drop())
  await one.pool.query('drop table schema_migration')
  return one
}

test('a migration waits for a lock in short tries, so that readers get between, and says who holds it', async () => {
  const { url, pool } = await emptyDatabase()
  await pool.query('create table thing (id int)')
  const folder = await migrationsOf({ '1_column.sql': 'alter table thing add column name text;' })
  const reader = await pool.connect()
  await reader.query('begin; select from thing')
  const notices: string[] = []
  const migrated = migrate(url, { folder, patience: quick, onNotice: (text) => notices.push(text) })
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
  const { url, pool } = await emptyDatabase()
  await pool.query('create table thing (id int)')
  const folder = await migrationsOf({
    '1_column.sql': 'create table other (id int); alter table thing add column name text;',
  })
  const reader = await pool.connect()
  await reader.query('begin; select from thing')
  await expect(migrate(url, { folder, patience: { ...quick, lockTimeoutMs: 1_000, totalMs: 1_500 } })).rejects.toThrow(
    /^migration 1_column\.sql failed and left nothing behind: .*lock timeout; held by pid \d+ \(test, idle in transaction\)$/,
  )
  await reader.query('rollback')
  reader.release()
  const { rows } = await pool.query(
    `select to_regclass('other') as other, (select count(*)::int from schema_migration)`,
  )
  expect(rows).toEqual([{ other: null, count: 0 }])
})

test('an index is built concurrently while another process waits to migrate', async () => {
  const { url, pool } = await emptyDatabase()
  await pool.query('create table thing (id int)')
  const folder = await migrationsOf({
    '1_index.sql':
      '-- outside a transaction\n-- Found by name.\ndrop index concurrently if exists thing_id;\n' +
      'create index concurrently thing_id on thing (id);\n',
  })
  const writer = await pool.connect()
  await writer.query('begin; insert into thing values (1)')
  const waiting: string[] = []
  const first = migrate(url, { folder })
  await until('the index waits for the writer', async () => {
    const { rows } = await pool.query(
      `select from pg_stat_activity where wait_event_type = 'Lock' and query ~ '^create'`,
    )
    return rows.length === 1
  })
  const second = migrate(url, { folder, onNotice: (text) => waiting.push(text) })
  await until('the second waits for the first', async () => waiting.length === 1)
  await writer.query('commit')
  writer.release()
  expect(await Promise.all([first, second])).toEqual([['1_index.sql'], []])
  expect(waiting).toEqual(['waiting for another migration to end'])
  const { rows } = await pool.query(`select indisvalid from pg_index where indexrelid = 'thing_id'::regclass`)
  expect(rows).toEqual([{ indisvalid: true }])
})

test('what would keep readers waiting is refused outside a transaction', async () => {
  const { url, pool } = await emptyDatabase()
  await pool.query('create table thing (id int)')
  const folder = await migrationsOf({ '1_column.sql': '-- outside a transaction\nalter table thing add name text;\n' })
  await expect(migrate(url, { folder })).rejects.toThrow(
    'migration 1_column.sql runs outside a transaction, where this may not: alter table thing add name text',
  )
})
