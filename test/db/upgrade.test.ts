import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { readApplied, takeOver } from '../../db/applied.ts'
import { ensureChainRows } from '../../db/chain-rows.ts'
import { migrate } from '../../db/migrate.ts'
import { inTransaction } from '../../db/pool.ts'
import { readMigrations } from '../../db/schema-files.ts'
import { testDatabase } from '../support/database.ts'
import { runMain } from '../support/mains.ts'
import { createBefore } from '../support/schema/before.ts'
import { checkOutRelease, lastRelease } from '../support/schema/released.ts'

// The database of the last release, with rows in its tables, becomes today's; until there is a release, that of the
// migrations of before. A migration may lock tables, and it may read or write rows, but not both: statements that wait for
// its locks would wait the longer the more rows there are.

const rowsEach = 2_000
/** Most rows that a migration may go through under a lock: enough for tables with a row for each chain or shard. */
const mostRows = 500
const large = [
  'agent',
  'claim',
  'registration',
  'settlement',
  'settlement_hourly',
  'source_state',
  'unpaid_authorization',
  'verified_address',
]

const migrations = new URL('../../db/migrations/', import.meta.url)
const database = testDatabase()
let filled: string[]

beforeAll(async () => {
  await database.pool.query('drop schema public, directory cascade; create schema public')
  await migrateAsBefore(database.url)
  filled = await fill(database.pool)
})

test('tables that grow have rows', () => {
  expect(filled).toEqual(expect.arrayContaining(large))
})

test.for([
  ['alter table claim add check (fid >= 0)', 'claim'],
  ['create index on settlement_hourly (chain)', 'settlement_hourly'],
  ['alter table unpaid_authorization alter count type bigint', 'unpaid_authorization'],
  ['alter table claim add column more int; update agent set handle = handle', 'agent'],
] as const)('%s: keeps others waiting', async ([sql, table]) => {
  expect(await rowsUnderLocks(database.pool, sql, false)).toMatchObject({ [table]: expect.any(Number) })
})

test.for([
  'alter table claim add column more int',
  'alter table claim add constraint more check (fid >= 0) not valid',
  'create table other (id int); create index on other (id)',
  'update agent set handle = handle',
])('%s: keeps nobody waiting', async (sql) => {
  expect(await rowsUnderLocks(database.pool, sql, false)).toEqual({})
})

test('what came since the last release keeps nobody waiting, and leaves nothing to do', async () => {
  for (const { name, sql, sha256, outside } of await readMigrations(migrations)) {
    if (lastRelease?.migrations.includes(name)) continue
    if (outside) await runApart(database.pool, outside)
    else expect([name, await rowsUnderLocks(database.pool, sql, true)]).toEqual([name, {}])
    await database.pool.query('insert into schema_migration (name, sha256) values ($1, $2)', [name, sha256])
  }
  const ran = await migrate(database.url)
  expect(ran.filter((name) => !name.startsWith('schema/'))).toEqual([]) // views may be new
})

/** Runs statements on their own connection: on a shared one their statistics would count in the next transaction. */
async function runApart(pool: pg.Pool, statements: readonly string[]) {
  const client = await pool.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    client.release(true)
  }
}

/** Brings an empty database to the schema that today's migrations go on from. */
async function migrateAsBefore(url: string) {
  const folder = mkdtempSync(join(tmpdir(), 'agent-directory-before-'))
  try {
    if (lastRelease) {
      checkOutRelease(folder)
      const ended = await runMain('db/main.ts', [], { version: folder, env: { DATABASE_URL: url } })
      expect(ended).toMatchObject({ code: 0 })
    } else {
      await createBefore(url)
      await inTransaction(database.pool, async (client) => {
        await takeOver(client, await readMigrations(migrations), await readApplied(client))
        await ensureChainRows(client) // partitions
      })
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * Fills each table whose checks allow it with `rowsEach` made-up rows; returns the names of those tables. References
 * between them lead nowhere: only the number of rows matters.
 */
async function fill(pool: pg.Pool): Promise<string[]> {
  const { rows: tables } = await pool.query<{ name: string; columns: string; values: string }>(
    `select c.relname as name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns,
            string_agg(
              case when a.attname = 'chain' then quote_literal('base')
                   when t.typname in ('int2', 'int4', 'int8', 'numeric', 'float8') then 'g'
                   when t.typname = 'text' then 'g::text'
                   when t.typname = 'bytea' then $$decode(lpad(to_hex(g), 40, '0'), 'hex')$$
                   when t.typname = 'timestamptz' then 'now()'
                   when t.typname = 'bool' then 'false'
                   when t.typname in ('json', 'jsonb') then $$'{}'$$
                   when t.typname = 'char' then $$'c'$$
                   when t.typname like '\\_%' then $$'{}'$$
                   else 'null' end, ', ' order by a.attnum) as values
       from pg_class c
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        and not a.atthasdef and a.attidentity = ''
       join pg_type t on t.oid = a.atttypid
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and c.relname <> 'schema_migration'
      group by 1 order by 1`,
  )
  const client = await pool.connect()
  const full: string[] = []
  await client.query('set session_replication_role = replica') // without triggers and foreign keys
  for (const { name, columns, values } of tables) {
    const sql = `insert into ${name} (${columns}) select ${values} from generate_series(1, ${rowsEach}) g on conflict do nothing`
    const { rowCount } = await client.query(sql).catch(() => ({ rowCount: 0 }))
    if (rowCount === rowsEach) full.push(name)
  }
  await client.query('reset session_replication_role')
  client.release(true) // its statistics would count in its next transactions
  return full
}

/**
 * Runs statements in a transaction. If they lock readers or writers out of any table that was there before, returns how
 * many rows they went through, by table that was there before, where more than `mostRows`; otherwise an empty object.
 */
async function rowsUnderLocks(pool: pg.Pool, sql: string, keep: boolean): Promise<Record<string, number>> {
  const client = await pool.connect()
  try {
    const before = await client.query<{ oid: number; file: number }>(
      `select oid, relfilenode as file from pg_class where relkind in ('r', 'p', 'v', 'm')
          and relnamespace = any(array['public', 'directory']::regnamespace[])`,
    )
    await client.query('begin')
    await client.query(sql)
    const known = before.rows.map(({ oid }) => oid)
    const files = before.rows.map(({ file }) => file)
    const { rows } = await client.query<{ name: string; rows: number }>(
      `select c.relname as name, case when c.relfilenode <> b.file then greatest(c.reltuples, $3)
                                      else s.seq_tup_read + s.n_tup_ins + s.n_tup_upd + s.n_tup_del end::int as rows
         from unnest($1::oid[], $2::oid[]) b (oid, file)
         join pg_class c using (oid)
         join pg_stat_xact_user_tables s on s.relid = c.oid
        where exists (select from pg_locks
                       where pid = pg_backend_pid() and granted and relation = any($1::oid[])
                         and mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'))`,
      [known, files, rowsEach],
    )
    await client.query(keep ? 'commit' : 'rollback')
    return Object.fromEntries(rows.filter((row) => row.rows > mostRows).map(({ name, rows: count }) => [name, count]))
  } finally {
    client.release(true)
  }
}
