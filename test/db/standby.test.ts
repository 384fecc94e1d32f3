import type pg from 'pg'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { boundedDatabase, connectionsByTurn, readConnections, readsThrough } from '../../api/http/database.ts'
import { createPool, inTransaction, type Queryable, rebuildable } from '../../db/pool.ts'
import { logHead } from '../../db/queries/log/log.ts'
import { inSafeTransaction } from '../../db/safe-transaction.ts'
import { longestAgeMs, readAt, Standby } from '../../db/standby.ts'
import { startTcpLink } from '../doubles/tcp-link.ts'
import { startApi } from '../support/api/api.ts'
import { until } from '../support/until.ts'
import { startPair } from './standby-pair.ts'

let pair: Awaited<ReturnType<typeof startPair>>
/** The test's own connections to the primary; `atStandby`: to the standby. */
let primary: pg.Pool
let atStandby: pg.Pool
beforeAll(async () => {
  pair = await startPair()
  primary = poolTo(pair.primary.databaseUrl)
  atStandby = poolTo(pair.standby.databaseUrl)
  await primary.query('create table kept (n bigint primary key)')
})
afterAll(async () => {
  await primary?.end()
  await atStandby?.end()
  await pair?.stop()
})

test('the API reads at the standby, writes and reads its log at the primary, and says which', async () => {
  const { standby, reads } = await openReads()
  const database = { url: pair.primary.databaseUrl, pool: primary, drop: async () => {} }
  const api = await startApi(database, { database: reads, primary: boundedDatabase(primary), standby })
  onTestFinished(() => api.stop())
  const before = standby.counts.answered
  expect((await api.get('/api/stats')).status).toBe(200)
  await until('it reads at the standby', async () => {
    expect((await api.get('/readyz')).status).toBe(200)
    return standby.counts.answered > before
  })
  expect((await api.get('/data/agents.json')).status).toBe(200)
  const afterReads = standby.counts.answered
  expect((await api.get('/data/log.ndjson')).status).toBe(200)
  expect((await api.get('/data/changes.ndjson')).status).toBe(200)
  expect(standby.counts.answered).toBe(afterReads)
  const textOf = async (path: string) => (await api.get(path)).text()
  await until('it says so', async () => /^ready\nreads: standby, \d+\.\d s old\n$/.test(await textOf('/readyz')))
  expect(await textOf('/metrics')).toMatch(/^agent_directory_standby_reads_total\{outcome="answered"\} [1-9]/m)
  await until('and how old it is', async () =>
    /^agent_directory_standby_age_seconds \d/m.test(await textOf('/metrics')),
  )
})

test('a standby that replays nothing serves until it is too old, and again when it has caught up', async () => {
  const longestMs = 4_000
  const { standby, reads } = await openReads({ longestMs })
  await replay('pause')
  try {
    const writtenAt = new Map<number, number>()
    let last = await newestOf(primary)
    await until('reads go to the primary', async () => {
      await primary.query('insert into kept values ($1)', [++last])
      writtenAt.set(last, performance.now())
      const asked = performance.now()
      const seen = await newestOf(reads)
      const missed = writtenAt.get(seen + 1)
      if (missed !== undefined) expect(asked - missed).toBeLessThanOrEqual(longestMs)
      return standby.standing === 'behind'
    })
    expect(await newestOf(reads)).toBe(last)
  } finally {
    await replay('resume')
  }
  await until('the standby serves again', () => standby.standing === 'answered')
  expect(await newestOf(reads)).toBe(await newestOf(primary))
})

test('a quiet primary does not make its standby old', async () => {
  const now = () => performance.now() * 10
  const { standby } = await openReads({ now })
  const begun = now()
  await until('it serves though nothing happened for longer', () => {
    return now() - begun > 1.2 * longestAgeMs && standby.standing === 'answered'
  })
})

test('who has written reads it, however late the standby is', async () => {
  const { standby, reads } = await openReads()
  await replay('pause')
  try {
    const next = (await newestOf(primary)) + 1
    await primary.query('insert into kept values ($1)', [next])
    await until('a read is older, as it may be', async () => (await newestOf(reads)) < next)
    await standby.noteWritten()
    expect(await newestOf(reads)).toBe(next)
  } finally {
    await replay('resume')
  }
  await until('the standby serves again', () => standby.standing === 'answered')
})

test('a read that the replay cancels is answered by the primary', async () => {
  const { standby, reads } = await openReads()
  const { answered } = await begunAtStandby('cancelled', () => reads.query(slowAtStandby('cancelled')))
  await changeTable()
  expect((await answered).rows).toEqual([{ recovering: false }])
  expect(standby.counts.cancelled).toBe(1)
})

test('so is a statement of GraphQL, and an export, which begins again', async () => {
  const { standby } = await openReads()
  const connections = connectionsByTurn(readConnections(standby, primary))
  const { answered } = await begunAtStandby('graphql', async () => {
    const client = await connections.connect()
    return client.query(slowAtStandby('graphql')).finally(() => client.release())
  })
  await changeTable()
  expect((await answered).rows).toEqual([{ recovering: false }])
  let runs = 0
  const { answered: exported } = await begunAtStandby('export', () => {
    runs = 0
    return readAt(standby, primary, (pool) =>
      inTransaction(pool, async (transaction) => {
        runs++
        await transaction.query('set transaction isolation level repeatable read, read only')
        return (await transaction.query(slowAtStandby('export'))).rows
      }),
    )
  })
  await changeTable()
  expect(await exported).toEqual([{ recovering: false }])
  expect(runs).toBe(2)
})

test('a standby that breaks off, or vanishes without a word, is done without until it is back', async () => {
  const link = await startTcpLink(Number(new URL(pair.standby.databaseUrl).port))
  onTestFinished(() => link.close())
  const through = new URL(pair.standby.databaseUrl)
  through.port = String(link.port)
  const { standby, reads } = await openReads({}, through.href)
  const { answered } = await begunAtStandby('broken off', () => reads.query(slowAtStandby('broken off')))
  await link.cut()
  expect((await answered).rows).toEqual([{ recovering: false }])
  expect((await reads.query({ text: 'select pg_is_in_recovery() as recovering' })).rows).toEqual([
    { recovering: false },
  ])
  await link.mend()
  await until('it serves again', () => standby.standing === 'answered')
  link.freeze()
  await until('its silence is noticed', () => standby.standing === 'away')
  expect((await reads.query({ text: 'select pg_is_in_recovery() as recovering' })).rows).toEqual([
    { recovering: false },
  ])
  link.thaw()
  await until('it serves again', () => standby.standing === 'answered')
})

test('a server that is no standby of the database is not read at', async () => {
  const { standby, reads } = openReadsAt(inject('databaseServer'))
  await until('it is looked at', () => standby.standing === 'foreign')
  expect(await newestOf(reads)).toBe(await newestOf(primary))
})

// The last test: it leaves no primary.
test('a failover loses nothing that was acknowledged as safe, and the log has another epoch', async () => {
  await primary.query(`alter system set synchronous_standby_names = 'ANY 1 (*)'`)
  await primary.query('select pg_reload_conf()')
  await until('a standby is waited for', async () => {
    const { rows } = await primary.query(`select from pg_stat_replication where sync_state = 'quorum'`)
    return rows.length === 1
  })
  const safe = poolTo(pair.primary.databaseUrl)
  const loose = poolTo(rebuildable(pair.primary.databaseUrl))
  const { epoch } = await logHead(primary)
  expect((await logHead(primary)).epoch).toBe(epoch)
  let last = await newestOf(primary)
  const add = (n: number, timeoutMs = 60_000) =>
    inSafeTransaction(safe, (client) => client.query('insert into kept values ($1)', [n]), timeoutMs)
  for (let more = 0; more < 20; more++) await add(++last)
  const acknowledged = last

  pair.wire.freeze()
  await expect(add(++last, 1_000)).rejects.toThrow('no standby has what was written')
  await loose.query('insert into kept values ($1)', [++last]) // does not wait for a standby

  for (const pool of [safe, loose]) await pool.end()
  process.kill(pair.primary.pid, 'SIGKILL')
  await pair.wire.cut()
  await atStandby.query('select pg_promote()')
  expect(await newestOf(atStandby)).toBe(acknowledged)
  const after = await logHead(atStandby)
  expect(after.epoch).not.toBe(epoch)
  expect((await logHead(atStandby)).epoch).toBe(after.epoch)
})

function poolTo(databaseUrl: string): pg.Pool {
  return createPool({ databaseUrl, name: 'standby test' })
}

function openReadsAt(databaseUrl: string, options: { longestMs?: number; now?: () => number } = {}) {
  const standby = new Standby({ primary, pool: poolTo(databaseUrl), ...options })
  onTestFinished(() => standby.end())
  return { standby, reads: readsThrough(standby, boundedDatabase(primary)) }
}

async function openReads(
  options: { longestMs?: number; now?: () => number } = {},
  databaseUrl = pair.standby.databaseUrl,
) {
  const opened = openReadsAt(databaseUrl, options)
  await until('the standby serves', () => opened.standby.standing === 'answered')
  return opened
}

async function newestOf(db: Queryable): Promise<number> {
  const { rows } = await db.query({ text: 'select coalesce(max(n), 0) as n from kept' })
  return rows[0].n
}

const replay = (what: 'pause' | 'resume') => atStandby.query(`select pg_wal_replay_${what}()`)

/** A statement that goes on for long at a standby, and not at a primary. */
const slowAtStandby = (name: string) => ({
  text: `select /* ${name} */ pg_is_in_recovery() as recovering
           from (select count(*), case when pg_is_in_recovery() then pg_sleep(30) end from kept) as held`,
})

/** Asks until the statement runs at the standby; while the standby is unfit the primary answers at once. */
async function begunAtStandby<T>(name: string, ask: () => Promise<T>): Promise<{ answered: Promise<T> }> {
  for (;;) {
    let isAnswered = false
    const answered = ask().finally(() => {
      isAnswered = true
    })
    await until('the statement runs at the standby', async () => isAnswered || (await isRunning(name)))
    if (!isAnswered) return { answered }
    await answered
  }
}

async function isRunning(name: string): Promise<boolean> {
  const { rows } = await atStandby.query(
    `select from pg_stat_activity where query like $1 and wait_event = 'PgSleep' and pid <> pg_backend_pid()`,
    [`%/* ${name} */%`],
  )
  return rows.length === 1
}

/** Takes an exclusive lock on `kept` for a moment, at the primary and, once replayed, at the standby. */
async function changeTable() {
  await primary.query('alter table kept alter column n set default 0')
}
