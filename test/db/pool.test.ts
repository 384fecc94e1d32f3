import { expect, onTestFinished, test } from 'vitest'
import { connectionTimeouts, createPool, inTransaction, patientStatementMs, withSettings } from '../../db/pool.ts'
import { startTcpLink } from '../doubles/tcp-link.ts'
import { createTestDatabase } from '../support/database.ts'
import { readSources } from '../support/source-files.ts'

test('a connection that breaks in the middle of a transaction fails the transaction, and not the process', async () => {
  const { pool, drop } = await createTestDatabase()
  const outsider = await pool.connect()
  const broken = inTransaction(pool, async (client) => {
    const { rows } = await client.query('select pg_backend_pid() as pid')
    const ended = new Promise((resolve) => client.once('end', resolve))
    await outsider.query('select pg_terminate_backend($1)', [rows[0].pid])
    await ended // no statement is in flight that could fail
    await client.query('select 1')
  })
  await expect(broken).rejects.toThrow(/not queryable/)
  outsider.release()
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  await drop()
})

test('a statement to a server that vanished without a word fails, and the next one gets a new connection', async () => {
  const { url, drop } = await createTestDatabase()
  onTestFinished(drop)
  const link = await startTcpLink(Number(new URL(url).port))
  const through = new URL(url)
  through.port = String(link.port)
  const pool = createPool({ databaseUrl: through.href, name: 'vanished', max: 1, statementTimeoutMs: 300 })
  onTestFinished(() => link.close())
  onTestFinished(() => pool.end())
  await pool.query('select 1')
  link.freeze()
  await expect(pool.query('select 1')).rejects.toThrow('Query read timeout')
  const broken = inTransaction(pool, (client) => client.query('select 1'))
  await expect(broken).rejects.toThrow(/timeout/)
  link.thaw()
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
})

test('a session is in UTC, whatever the server, the database and the operator say', async () => {
  const { url, pool, drop } = await createTestDatabase()
  onTestFinished(drop)
  await pool.query(`alter database ${new URL(url).pathname.slice(1)} set timezone = 'America/New_York'`)
  for (const options of ['', '-c timezone=Asia/Tokyo']) {
    const named = new URL(url)
    if (options) named.searchParams.set('options', options)
    const own = createPool({ databaseUrl: named.href, name: 'zone', max: 1 })
    onTestFinished(() => own.end())
    // The clocks of New York went forward on 8 March 2026.
    const { rows } = await own.query(`select timestamptz '2026-03-10T12:00Z' - interval '7 days' as week_before`)
    expect(rows[0].week_before).toEqual(new Date('2026-03-03T12:00Z'))
  }
})

test('a session compiles no statement, unless the operator says so', async () => {
  const { url, pool, drop } = await createTestDatabase()
  onTestFinished(drop)
  await pool.query(`alter database ${new URL(url).pathname.slice(1)} set jit = on`)
  for (const [options, jit] of [
    ['', 'off'],
    ['-c jit=on', 'on'],
  ] as const) {
    const own = createPool({ databaseUrl: withSettings(url, { after: options }), name: 'compiled', max: 1 })
    onTestFinished(() => own.end())
    expect((await own.query('show jit')).rows).toEqual([{ jit }])
  }
})

test('every connection is made in UTC but those that only ask the server about itself', async () => {
  const product = (await readSources()).filter(({ room }) => room !== 'test' && room !== 'bench')
  const connecting = product.filter(({ text }) => /new pg\.(Client|Pool)\(|new DataSource\(/.test(text))
  expect(connecting.length).toBeGreaterThan(8)
  const others = connecting.filter(({ text }) => !/(connectionString|url): (\w+\()?sessionOf\(/.test(text))
  expect(others.map(({ path }) => path).sort()).toEqual([
    'db/backup/copy-server.ts',
    'db/lock-retry.ts',
    'db/pooler.ts',
    'db/server-wait.ts',
    'postgres/embedded.ts',
  ])
})

test('a background process notices a silent server in minutes, a load that may take hours by keepalive alone', () => {
  expect(connectionTimeouts(patientStatementMs)).toMatchObject({ keepAlive: true, query_timeout: 301_000 })
  expect(connectionTimeouts(0)).toEqual({ keepAlive: true, keepAliveInitialDelayMillis: 10_000 })
})
