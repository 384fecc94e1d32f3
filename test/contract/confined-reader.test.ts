import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { migrate } from '../../db/migrate.ts'
import { createDatabase, createPool, dropDatabase } from '../../db/pool.ts'
import { dropReader, loginUrl, makeReader } from '../../db/reader/login.ts'
import { runMain } from '../support/mains.ts'

// This database is migrated by the test: a copy of the template database would lack the grants to PUBLIC.

const id = randomBytes(6).toString('hex')
const owner = `owner_${id}`
const reader = `reader_${id}`
const database = `confined_${id}`
const urlOf = (name: string) => Object.assign(new URL(inject('databaseServer')), { pathname: name }).href

let server: pg.Pool
let admin: pg.Pool
let password: string
beforeAll(async () => {
  server = createPool({ databaseUrl: inject('databaseServer'), name: 'test', max: 1 })
  await createDatabase(server, database)
  await server.query(`create role ${owner} login password 'owner'`)
  await server.query(`alter database ${database} owner to ${owner}`)
  await migrate(urlOf(database))
  admin = createPool({ databaseUrl: urlOf(database), name: 'test', max: 1 })
  password = await makeReader(admin, reader)
})
afterAll(async () => {
  await dropReader(admin, reader)
  await admin.end()
  await dropDatabase(server, database)
  await server.query(`drop role ${owner}`)
  await server.end()
})

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {}) // some tests let the server end the session
  await client.connect()
  onTestFinished(() => client.end().catch(() => {}))
  return client
}
const login = (name = reader, secret = password) => connect(loginUrl(urlOf(database), { name, password: secret }))

/** A login of an attacker, who has turned the default of read-only transactions off. */
async function hostile(): Promise<pg.Client> {
  const client = await login()
  await client.query('set default_transaction_read_only = off')
  return client
}

test('a login has the limits of the role, and reads the views alone', async () => {
  const client = await login()
  const { rows } = await client.query(`
    select name, current_setting(name) as value from pg_settings
     where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout',
                    'transaction_timeout', 'temp_file_limit', 'default_transaction_read_only', 'search_path', 'work_mem')
     order by name`)
  expect(rows.map(({ name, value }) => `${name} ${value}`)).toEqual([
    'default_transaction_read_only on',
    'idle_in_transaction_session_timeout 30s',
    'idle_session_timeout 1h',
    'lock_timeout 5s',
    'search_path directory',
    'statement_timeout 10s',
    'temp_file_limit 2GB',
    ...(rows.some(({ name }) => name === 'transaction_timeout') ? ['transaction_timeout 1min'] : []),
    'work_mem 16MB',
  ])
  expect((await client.query('select from agents')).rowCount).toBe(0)
  const { rows: readable } = await client.query(`
    select c.oid::regclass::text as name
      from pg_class c
     where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S') and has_schema_privilege(c.relnamespace, 'usage')
       and c.relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace, 'directory'::regnamespace)
       and (has_table_privilege(c.oid, 'select, insert, update, delete, truncate, references, trigger')
            or has_any_column_privilege(c.oid, 'select, insert, update, references'))`)
  expect(readable).toEqual([])
})

test.for([
  ['select pg_advisory_lock(1)', 'permission denied for function'],
  ['select pg_advisory_xact_lock(1)', 'permission denied for function'],
  ['select pg_advisory_lock_shared(1, 1)', 'permission denied for function'],
  ['select pg_try_advisory_lock(1)', 'permission denied for function'],
  ['select pg_try_advisory_xact_lock_shared(1, 1)', 'permission denied for function'],
  ['begin; lock table directory.agents in row share mode', 'permission denied'],
  ['begin; lock table directory.agents in access exclusive mode', 'permission denied'],
  ['begin; lock table public.agent in access share mode', 'permission denied'],
  ['select from directory.agents for key share', 'permission denied'],
  ['do $$ begin perform 1; end $$', 'permission denied for language plpgsql'],
  ['create temp table mine (n int)', 'permission denied to create temporary tables'],
  ['create function pg_temp.mine() returns int language sql as $$ select 1 $$', 'permission denied'],
  ['create table public.mine (n int)', 'permission denied'],
  ['create view directory.mine as select 1', 'permission denied'],
  ['create schema mine', 'permission denied'],
  [`select public.is_from_others(null::public.payment, 1)`, 'permission denied for schema public'],
  ['select lo_create(0)', 'permission denied for function'],
  ['select lo_from_bytea(0, $$x$$)', 'permission denied for function'],
  ['set temp_file_limit = -1', 'permission denied to set parameter'],
  ['set session_replication_role = replica', 'permission denied to set parameter'],
  [`copy (select 1) to '/tmp/mine'`, 'permission denied to COPY'],
  [`copy (select 1) to program 'true'`, 'permission denied to COPY'],
  [`select pg_read_file('postgresql.conf')`, 'permission denied for function'],
  ['select pg_terminate_backend(pid) from pg_stat_activity', 'permission denied to terminate process'],
  ['select directory.grant_reader()', 'permission denied'],
  ['alter role directory_reader connection limit -1', 'permission denied'],
  ['set role directory_reader', 'permission denied to set role'],
  [`select pg_logical_emit_message(false, 'mine', 'x')`, 'permission denied for function'],
  [`select pg_logical_emit_message(true, 'mine', '\\x00'::bytea)`, 'permission denied for function'],
] as const)('even a session that may write is refused: %s', async ([statement, refusal]) => {
  const client = await hostile()
  await expect(client.query(statement)).rejects.toThrow(refusal)
})

test('a reader may name no function that runs with the rights of its owner', async () => {
  const client = await login()
  const { rows: owned } = await client.query(`
    select p.oid::regprocedure::text as name, has_schema_privilege(p.pronamespace, 'usage') and has_function_privilege(p.oid, 'execute') as may
      from pg_proc p
     where p.prosecdef and p.pronamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`)
  expect(owned.length).toBeGreaterThan(3)
  expect(owned.filter(({ may }) => may)).toEqual([])
})

test('temporary files end at the limit, which a session cannot raise', async () => {
  await admin.query(`alter role ${reader} set temp_file_limit = '1MB'`)
  const client = await hostile()
  await client.query(`set work_mem = '64kB'`)
  const large = 'select count(*) from (select n from generate_series(1, 300000) n order by n desc offset 1) sorted'
  await expect(client.query(large)).rejects.toThrow('temporary file size exceeds')
  await admin.query(`alter role ${reader} set temp_file_limit = '2GB'`)
})

test('there are no more connections than were given', async () => {
  await makeReader(admin, `${reader}_two`, { seconds: 10, connections: 2 })
  const secret = await makeReader(admin, `${reader}_two`, { seconds: 7, connections: 1 })
  const only = await login(`${reader}_two`, secret)
  expect((await only.query('show statement_timeout')).rows).toEqual([{ statement_timeout: '7s' }])
  await expect(login(`${reader}_two`, secret)).rejects.toThrow('too many connections for role')
  await dropReader(admin, `${reader}_two`)
  await expect(only.query('select 1')).rejects.toThrow()
  await expect(login(`${reader}_two`, secret)).rejects.toThrow('authentication failed')
})

test('a statement that may take long does not end with its transaction before', async () => {
  const name = `${reader}_long`
  const client = await login(name, await makeReader(admin, name, { seconds: 300, connections: 1 }))
  const { rows } = await client.query(
    `select name, setting::int / 1000 as seconds from pg_settings
      where name in ('statement_timeout', 'transaction_timeout') order by name`,
  )
  const before17 = rows.length === 1
  expect(rows).toEqual([
    { name: 'statement_timeout', seconds: 300 },
    ...(before17 ? [] : [{ name: 'transaction_timeout', seconds: 350 }]),
  ])
  await dropReader(admin, name)
})

test('a login that can become the role no longer can once it is made again, or else the maker is told', async () => {
  const name = `${reader}_before`
  const first = await makeReader(admin, name)
  await admin.query(`grant directory_reader to ${name} with set true`)
  await (await login(name, first)).query('set role directory_reader')
  const client = await login(name, await makeReader(admin, name))
  await expect(client.query('set role directory_reader')).rejects.toThrow('permission denied to set role')
  expect((await client.query('select from agents')).rowCount).toBe(0)
  await admin.query(`grant directory_reader to ${owner} with admin true`)
  await admin.query(`grant directory_reader to ${name} granted by ${owner}`)
  await expect(makeReader(admin, name)).rejects.toThrow(`${name} can still become directory_reader by another grant`)
  await dropReader(admin, name)
  await login(name, await makeReader(admin, name))
  await dropReader(admin, name)
  await admin.query(`revoke directory_reader from ${owner}`)
})

test('what Postgres leaves to every session is what docs/sql.md says is left', async () => {
  const client = await hostile()
  await client.query(`set statement_timeout = 0; set work_mem = '1GB'; notify anything; begin`)
  await client.query('lock table directory.agents in access share mode')
  const { rows } = await admin.query(
    `select distinct mode from pg_locks l join pg_stat_activity using (pid) where usename = $1 and relation = 'agent'::regclass`,
    [reader],
  )
  expect(rows).toEqual([{ mode: 'AccessShareLock' }])
  await client.query('rollback')
})

test('whoever writes keeps what was taken from everybody', async () => {
  const client = await connect(urlOf(database).replace(/\/\/[^@]*@/, `//${owner}:owner@`))
  await client.query('select pg_advisory_lock(1), pg_advisory_unlock(1)')
  await client.query(`select pg_logical_emit_message(true, 'agent-directory', '')`)
  await client.query('create temp table mine (n int)')
  await client.query('create function pg_temp.one() returns int language plpgsql as $$ begin return 1; end $$')
  await client.query('do $$ begin perform 1; end $$')
})

test('the command prints lines to connect by, and leaves other roles alone', async () => {
  const env = { DATABASE_URL: urlOf(database) }
  const name = `${reader}_cli`
  const made = await runMain('db/reader/main.ts', ['--name', name, '--connections', '2'], { env })
  expect([made.code, made.stderr]).toEqual([0, ''])
  const url = /psql '(.*)'/.exec(made.stdout)?.[1] as string
  const { host, username, password: secret, pathname } = new URL(url)
  expect(made.stdout.split('\n').map((line) => line.trim().split(/ {2,}/))).toEqual([
    [`${name} reads Postgres at ${host}${pathname}: 10 s a statement, 2 connections`],
    ['psql', `psql '${url}'`],
    ['DBeaver', `jdbc:postgresql://${host}${pathname}?user=${username}&password=${secret}`],
    [
      'notebook',
      `pandas.read_sql('select * from agents limit 10', '${url.replace('postgres:', 'postgresql+psycopg:')}')`,
    ],
    [''],
  ])
  expect((await (await connect(url)).query('select from agents')).rowCount).toBe(0)
  await dropReader(admin, name)
  await expect(makeReader(admin, owner)).rejects.toThrow(`the role ${owner} is no reader`)
  await expect(dropReader(admin, owner)).rejects.toThrow(`the role ${owner} is no reader`)
  const refused = await runMain('db/reader/main.ts', ['--name', 'Robert"; drop'], { env })
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--name must be a letter')])
})
