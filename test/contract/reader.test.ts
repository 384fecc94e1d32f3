import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createGraphqlApp } from '../../api/graphql/app.ts'
import { boundedDatabase } from '../../api/http/database.ts'
import { createHttpServer } from '../../api/http/server.ts'
import { MemoryStore } from '../../api/limits/memory-store.ts'
import { migrate } from '../../db/migrate.ts'
import { dropReader, makeReader } from '../../db/reader/login.ts'
import { portOf } from '../../ops/health.ts'
import { startPostgres } from '../../postgres/embedded.ts'
import { testTimeoutMs } from '../support/until.ts'

// A server of its own, set up as a managed one: the role that migrates is no superuser, and roles span its databases.

let folder: string
let server: Awaited<ReturnType<typeof startPostgres>>
let admin: pg.Client
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-directory-reader-'))
  await chmod(folder, 0o755) // as root the server runs as another user, who has to reach its data
  server = await startPostgres({ dataFolder: join(folder, 'postgres'), durable: false })
  admin = new pg.Client({ connectionString: server.databaseUrl })
  await admin.connect()
})
afterAll(async () => {
  await admin?.end()
  await server?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Makes a role and a database of the same name that it owns; returns the URL the role logs in by. */
async function createOwner(name: string, rights = ''): Promise<string> {
  await admin.query(`create role ${name} login ${rights} password '${name}'`)
  await admin.query(`create database ${name} owner ${name}`)
  return loginOf(name, name)
}
function loginOf(user: string, database: string, password = user): string {
  const url = new URL(server.urlOf(database))
  url.username = user
  url.password = password
  return url.href
}
/** Logs in, with more time for a statement than a reader's ten seconds, in which a busy machine may not have planned one. */
async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, statement_timeout: testTimeoutMs })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}
async function migrated(url: string): Promise<string[]> {
  const notices: string[] = []
  expect(await migrate(url, { onNotice: (text) => notices.push(text) })).toContain('schema/readers.sql')
  return notices
}

/** What GraphQL answers to a question about agents, logged in to the database by this address. */
async function askGraphql(databaseUrl: string): Promise<unknown> {
  const pool = new pg.Pool({ connectionString: databaseUrl })
  const limits = { perMinute: 100, perDay: 100 }
  const { app, release } = await createGraphqlApp({
    databaseUrl,
    database: boundedDatabase(pool),
    pool,
    log: pino({ level: 'silent' }),
    trustProxyHops: 0,
    limiter: { limits, store: new MemoryStore(limits, Date.now), now: Date.now },
    notReady: () => undefined,
  })
  const http = createHttpServer(app)
  await once(http.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(async () => {
    http.closeAllConnections()
    http.close()
    await release()
    await pool.end()
  })
  const response = await fetch(`http://127.0.0.1:${portOf(http)}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ allAgents(first: 1) { nodes { fid } } }' }),
  })
  return response.json()
}
const noAgents = { data: { allAgents: { nodes: [] } } }

test('a migrating user who may create roles and is no superuser makes the reader, and GraphQL reads as it', async () => {
  const url = await createOwner('managed', 'createrole')
  expect(await migrated(url)).toEqual([])
  expect(await askGraphql(url)).toEqual(noAgents)
  const owner = await connect(url)
  const password = await makeReader(owner, 'ana')
  const reader = await connect(loginOf('ana', 'managed', password))
  expect((await reader.query('select from agents')).rowCount).toBe(0)
  await expect(reader.query('set role directory_reader')).rejects.toThrow('permission denied to set role')
  reader.on('error', () => {}) // the server says why it ends the session, and then the line does
  const ended = once(reader, 'error')
  await admin.query('alter role managed noinherit')
  await dropReader(owner, 'ana')
  expect(await ended).toMatchObject([{ message: 'terminating connection due to administrator command' }])
  await expect(connect(loginOf('ana', 'managed', password))).rejects.toThrow('authentication failed')
  await owner.query('set role directory_reader')
  await expect(owner.query('select from public.claim')).rejects.toThrow('permission denied for schema public')
})

test('a migrating user who may not create roles gets the views; an administrator lets the reader in, and GraphQL', async () => {
  await admin.query('drop database if exists managed with (force)')
  await admin.query('drop role if exists directory_reader')
  const url = await createOwner('plain')
  expect(await migrated(url)).toEqual([expect.stringContaining('role directory_reader was not created: plain may not')])
  const owner = await connect(url)
  expect((await owner.query('select from directory.agents')).rowCount).toBe(0)
  expect((await owner.query('select directory.grant_reader() as let_in')).rows).toEqual([{ let_in: false }])

  await admin.query(`create role directory_reader login password 'directory_reader'`)
  expect((await owner.query('select directory.grant_reader() as let_in')).rows).toEqual([{ let_in: true }])
  const reader = await connect(loginOf('directory_reader', 'plain'))
  expect((await reader.query('select from directory.claims')).rowCount).toBe(0)
  await expect(reader.query('select from public.claim')).rejects.toThrow('permission denied for schema public')

  await expect(askGraphql(url)).rejects.toThrow('permission denied to set role "directory_reader"')
  await admin.query('grant directory_reader to plain')
  expect(await askGraphql(url)).toEqual(noAgents)
})

const roleIfMissing = `do $$ begin create role directory_reader; exception when duplicate_object then null; end $$`

test('a login has its limits, whatever became of those of the role', async () => {
  await admin.query(roleIfMissing)
  await admin.query('alter role directory_reader set lock_timeout = 0')
  await admin.query('alter role directory_reader set default_transaction_read_only = off')
  const reader = await connect(loginOf('ben', 'postgres', await makeReader(admin, 'ben')))
  const { rows } = await reader.query(
    `select current_setting('lock_timeout') as lock, current_setting('default_transaction_read_only') as read_only`,
  )
  expect(rows).toEqual([{ lock: '5s', read_only: 'on' }])
})

test('a second directory of the server, whose owner did not make the reader, says what an administrator has to do', async () => {
  await admin.query(roleIfMissing)
  const url = await createOwner('second', 'createrole')
  expect(await migrated(url)).toEqual([
    expect.stringContaining('second may not make itself a member of directory_reader'),
  ])
})
