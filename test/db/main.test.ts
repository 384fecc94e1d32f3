import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readSchema } from '../../db/schema-files.ts'
import { freePort } from '../../ops/ports.ts'
import { addedByFile } from '../support/chain/eighth.ts'
import { createTestDatabase, type OwnDatabase } from '../support/database.ts'
import { endOf, runMain, startMain } from '../support/mains.ts'
import { until } from '../support/until.ts'

/** Postgres's answer 57P03, an ErrorResponse. */
const startingUp = (() => {
  const fields = Buffer.from('SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0')
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
})()

let database: OwnDatabase
let folder: string
beforeEach(async () => {
  database = await createTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'agent-directory-migrate-'))
  await chmod(folder, 0o755)
})
afterEach(async () => {
  await database.drop()
  await rm(folder, { recursive: true, force: true })
})

test('an empty database gets the schema and each view, named once, and then nothing', async () => {
  await database.pool.query('drop schema public, directory cascade; create schema public')
  const { repeatable } = await readSchema()
  const names = ['schema', ...repeatable.map(({ name }) => name)]
  const { host, pathname } = new URL(database.url)
  const first = await migrate(database.url)
  expect(first.stdout).toBe(
    [...names.map((name) => `applied ${name}`), `Postgres at ${host}${pathname}: ${names.length} applied`, ''].join(
      '\n',
    ),
  )
  expect(first).toMatchObject({ code: 0, stderr: '' })
  const second = await migrate(database.url)
  expect(second).toMatchObject({ code: 0, stdout: `Postgres at ${host}${pathname}: nothing to do\n` })
})

test('a database that is newer than the program is refused by one line and exit code 1', async () => {
  await database.pool.query(`insert into schema_migration (name, sha256) values ('9999_future.sql', 'x')`)
  const { code, stdout, stderr } = await migrate(database.url)
  expect(stderr).toBe('the database is newer than this program: it holds 9999_future.sql; update the program\n')
  expect(stdout).toBe('')
  expect(code).toBe(1)
})

test('what is no address is refused in words that do not repeat its password', async () => {
  const { code, stderr } = await migrate('mysql://me:secret@host/database')
  expect(stderr).toBe('the settings are wrong:\n  DATABASE_URL must be postgres://user:password@host:port/database\n')
  expect(code).toBe(1)
})

test('a chain whose partition would have the name of another table is refused by one line', async () => {
  const { env, remove } = await addedByFile('http://127.0.0.1:1', 'hourly')
  try {
    const { code, stderr } = await migrate(database.url, env)
    const fault = 'settlement_hourly is a table already, so no chain can have that name'
    expect(stderr).toBe(`the chain table failed and left nothing behind: ${fault}\n`)
    expect(code).toBe(1)
  } finally {
    await remove()
  }
})

test('a server that is not there is named in one line', async () => {
  const { code, stderr } = await migrate('postgres://me@127.0.0.1:1/database')
  expect(stderr).toBe('connect ECONNREFUSED 127.0.0.1:1\n')
  expect(code).toBe(1)
})

test('with --wait a server that does not answer yet is waited for, and told of once', async () => {
  const target = new URL(database.url)
  const port = await freePort('127.0.0.1')
  const there = new URL(database.url)
  there.host = `127.0.0.1:${port}`
  const child = startMain('db/main.ts', ['--wait'], { cwd: folder, env: { DATABASE_URL: there.href } })
  const ended = endOf(child)
  const said: string[] = []
  child.stderr?.on('data', (text) => said.push(String(text)))
  await until('it waits', () => said.join('').includes('ECONNREFUSED'))
  let refused = 0
  const server = createServer((socket) => {
    socket.on('error', () => {})
    // What a server says while it replays its log after a crash.
    if (refused++ < 1) return void socket.once('data', () => socket.end(startingUp))
    const through = connect(Number(target.port || 5432), target.hostname)
    through.on('error', () => socket.destroy())
    socket.pipe(through).pipe(socket)
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const { code, stdout, stderr } = await ended
  server.close()
  expect(stderr).toBe(`waiting for the database: connect ECONNREFUSED 127.0.0.1:${port}\n`)
  expect(stdout).toContain('nothing to do')
  expect(code).toBe(0)
  expect(refused).toBeGreaterThan(1)
})

test('without DATABASE_URL the embedded database is created, migrated and left running for nobody', async () => {
  const first = await migrate(undefined)
  expect(first.stdout).toMatch(/^applied schema\n[\s\S]*embedded Postgres in .*\.data\/postgres: \d+ applied\n$/)
  expect(existsSync(join(folder, '.data/postgres/PG_VERSION'))).toBe(true)
  expect(existsSync(join(folder, '.data/postgres/postmaster.pid'))).toBe(false)
  const several = await Promise.all([1, 2, 3].map(() => migrate(undefined)))
  expect(several.map(({ code, stdout }) => [code, stdout.split(': ')[1]])).toEqual(
    Array(3).fill([0, 'nothing to do\n']),
  )
})

test('a backfill that only says what it would read creates no embedded database', async () => {
  const { code, stderr } = await runMain('processors/backfill/main.ts', ['--all', '--plan'], { cwd: folder })
  expect(stderr).toMatch(/^there is no embedded database yet: [^\n]+\n$/)
  expect(code).toBe(1)
  expect(existsSync(join(folder, '.data/postgres'))).toBe(false)
})

function migrate(databaseUrl: string | undefined, env: Record<string, string> = {}) {
  return runMain('db/main.ts', [], { cwd: folder, env: { DATABASE_URL: databaseUrl, ...env } })
}
