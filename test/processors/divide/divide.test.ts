import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { readChains } from '../../../chains.file.ts'
import { createPool, inTransaction } from '../../../db/pool.ts'
import { readAside } from '../../../db/queries/chain/aside-partitions.ts'
import { ensurePartitions } from '../../../db/queries/chain/partitions/settlement-partitions.ts'
import { runArchive } from '../../../export/archive/run.ts'
import { placePartition } from '../../../processors/backfill/aside-placement.ts'
import { reserveRange } from '../../../processors/backfill/reservation.ts'
import { divideSettlements } from '../../../processors/divide/divide.ts'
import { Freezer } from '../../../processors/freezer.ts'
import { archiveOf, archiveWorld, settlementsOf, task } from '../../export/archive/world.ts'
import { makeUndivided } from '../../support/chain/undivided.ts'
import { createTestDatabase, type OwnDatabase } from '../../support/database.ts'
import { exportFolder } from '../../support/exports.ts'
import { endOf, startMain } from '../../support/mains.ts'
import { seedChainState } from '../../support/seed.ts'
import { until } from '../../support/until.ts'

const { celo } = readChains({ env: {} })
const first = 30_000_000
const blocksApart = 1_600
const million = 1_000_000

/** Rows of celo in `table`: three to each of some blocks from one on, with that many blocks between. */
const rowsOf = (table: string) => `
insert into ${table} (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token, payer,
                      recipient, facilitator, payment_nonce, tx_hash, id)
select n, '2026-01-01', $1::int + n / 3 * ${blocksApart}, n % 3, 'celo', 'c', '\\xe3ee160e', '\\x00',
       decode(lpad(to_hex(n % 500), 40, '0'), 'hex'), decode(lpad(to_hex(n % 100), 40, '0'), 'hex'), '\\x00',
       decode(lpad(to_hex(n), 64, '0'), 'hex'), decode(lpad(to_hex(n), 64, '0'), 'hex'), $3::text || n
  from generate_series(0, $2::int * 3 - 1) n`

let database: OwnDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  await database.pool.query('create table expected (like settlement including indexes)')
})
afterAll(() => database?.drop())

/** One table with 15,000 rows of three partitions, and the same rows in `expected`. Returns the head. */
async function fill(): Promise<number> {
  const { pool } = database
  await pool.query('truncate expected')
  await makeUndivided(pool, 'celo')
  for (const table of ['settlement', 'expected']) await pool.query(rowsOf(table), [first, 4_000, null])
  for (const table of ['settlement', 'expected']) await pool.query(rowsOf(table), [51 * million, 1_000, null])
  return 51 * million + 1_000 * blocksApart
}

const leaves = async (table = 'settlement_celo_divided') => {
  const { rows } = await database.pool.query<{ name: string }>(
    'select inhrelid::regclass::text as name from pg_inherits where inhparent = to_regclass($1) order by 1',
    [table],
  )
  return rows.map(({ name }) => name)
}

async function differences(): Promise<number> {
  const { rows } = await database.pool.query(
    `select ((select count(*) from (select * from settlement except all select * from expected) more)
           + (select count(*) from (select * from expected except all select * from settlement) less))::int as found`,
  )
  return rows[0].found
}

async function remains(): Promise<string[]> {
  const { rows } = await database.pool.query(
    `select relname as name from pg_class where relname ~ '^settlement_celo_(divided|undivided|change)' and relkind in ('r', 'p')
      union all select proname from pg_proc where proname ~ '^settlement_celo_'`,
  )
  return rows.map(({ name }) => name)
}

/** Writes at the head, takes back and mends, without a pause: into the settlements and, in the same transaction, `expected`. */
function writeFrom(block: number) {
  const pool = createPool({ databaseUrl: database.url, name: 'beside', max: 1 })
  let head = block
  let isOver = false
  const writing = (async () => {
    for (let round = 0; !isOver; round++) {
      await inTransaction(pool, async (db) => {
        for (const table of ['settlement', 'expected']) {
          await db.query(rowsOf(table), [head, 3, 'celo-'])
          if (round % 5 === 4) await db.query(`delete from ${table} where block_number = $1`, [head])
          if (round % 7 === 6)
            await db.query(`update ${table} set amount = amount + 1 where chain = 'celo' and block_number = $1`, [
              first + round * blocksApart,
            ])
          if (round % 11 === 10)
            await db.query(`delete from ${table} where chain = 'celo' and block_number = $1`, [
              first + round * blocksApart * 3,
            ])
        }
      })
      head += 3 * blocksApart
      await delay(5)
    }
  })()
  return async () => {
    isOver = true
    await writing
    await pool.end()
    return head
  }
}

/** Compares the two tables' sizes, each time in one statement and so with one snapshot. */
function readBeside() {
  const pool = createPool({ databaseUrl: database.url, name: 'beside', max: 1 })
  let isOver = false
  let answers = 0
  const wrong: number[] = []
  const reading = (async () => {
    for (; !isOver; answers++) {
      const { rows } = await pool.query(
        `select ((select count(*) from settlement where chain = 'celo') - (select count(*) from expected))::int as more`,
      )
      if (rows[0].more !== 0) wrong.push(rows[0].more)
      await delay(5)
    }
  })()
  return async () => {
    isOver = true
    await reading
    await pool.end()
    return { answers, wrong }
  }
}

/** Watches how long the two wait for a lock; returns the longest wait, in milliseconds. */
function watchLocks() {
  let isOver = false
  let longest = 0
  const watching = (async () => {
    for (; !isOver; await delay(10)) {
      const { rows } = await database.pool.query(
        `select coalesce(max(extract(epoch from clock_timestamp() - waitstart) * 1000), 0)::float8 as ms
           from pg_locks join pg_stat_activity using (pid) where not granted and application_name = 'beside'`,
      )
      longest = Math.max(longest, rows[0].ms)
    }
  })()
  return async () => {
    isOver = true
    await watching
    return longest
  }
}

const command = () =>
  startMain('processors/divide/main.ts', ['--chain', 'celo'], { env: { DATABASE_URL: database.url } })
const kill = async (child: ChildProcess) => {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

test('a table is divided beside readers and writers, over kills, and its rows are the same', async () => {
  const { pool } = database
  const head = await fill()
  const stopWriting = writeFrom(head)
  const stopReading = readBeside()
  const stopWatching = watchLocks()
  const killed = command()
  await until('a partition is copied', async () => (await leaves()).length > 0)
  await kill(killed)

  // Whoever holds the table for long is waited for; he keeps nobody else waiting.
  const holder = await pool.connect()
  onTestFinished(() => holder.release(true))
  await holder.query('begin; select from settlement limit 1')
  const waiting = command()
  await until('all is copied, and the exchange waits', async () => {
    const { rows } = await pool.query(
      `select from pg_locks where not granted and mode = 'AccessExclusiveLock' and relation = 'settlement'::regclass`,
    )
    return rows.length > 0
  })
  await kill(waiting)
  expect((await leaves()).slice(0, 3)).toEqual(['settlement_celo_0000', 'settlement_celo_0035', 'settlement_celo_0050'])
  await holder.query('rollback')

  const { code, stdout } = await endOf(command())
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'celo is divided\n' })
  const newest = await stopWriting()
  const { answers, wrong } = await stopReading()
  expect(wrong).toEqual([])
  expect(answers).toBeGreaterThan(10)
  expect(await stopWatching()).toBeLessThan(1_000)
  expect(newest).toBeGreaterThan(head)
  expect(await differences()).toBe(0)
  expect(await remains()).toEqual([])
  expect(await leaves('settlement_celo')).toContain('settlement_celo_0095') // far behind the head
  expect((await endOf(command())).stdout).toBe('celo is divided already\n')
  const { rows } = await pool.query(
    `select distinct tableoid::regclass::text as table from settlement where chain = 'celo' order by 1`,
  )
  expect(rows.map(({ table }) => table)).toEqual([
    'settlement_celo_0000',
    'settlement_celo_0035',
    'settlement_celo_0050',
  ])
})

test('a chain that was divided is frozen, and loads aside', async () => {
  const { pool } = database
  await seedChainState(pool, { chain: 'celo', chainId: celo.id, indexed: 60 * million, finalized: 55 * million })
  const log = { info: () => {}, warn: (text: string) => expect.unreachable(text) }
  const freezer = new Freezer({ databaseUrl: database.url, chain: celo, log })
  const frozen = [await freezer.freeze(), await freezer.freeze(), await freezer.freeze()]
  expect(frozen).toEqual(['settlement_celo_0000', 'settlement_celo_0035', undefined])
  const { id } = (await reserveRange(pool, celo, { fromBlock: 66 * million, toBlock: 67 * million }, 1))!
  const [aside] = await readAside(pool, id)
  expect(aside).toMatchObject({ partition: 'settlement_celo_0065' })
  await pool.query(rowsOf('settlement_celo_0065_load'), [66 * million, 10, null])
  await pool.query('update backfill_shard set next_block = last_block + 1')
  await placePartition(pool, celo, aside!)
  const { rows } = await pool.query('select count(*)::int from settlement where block_number >= $1', [66 * million])
  expect(rows).toEqual([{ count: 30 }])
})

test('a chain that is reset meanwhile has none of the rows that were copied before', async () => {
  const { pool } = database
  await pool.query('delete from backfill')
  await fill()
  const holder = await pool.connect()
  onTestFinished(() => holder.release(true))
  await holder.query('begin; select from settlement limit 1')
  const patience = { lockTimeoutMs: 50, pauseMs: 1, totalMs: 0 }
  await expect(divideSettlements({ pool, chain: celo, print: () => {}, patience })).rejects.toThrow('lock timeout')
  await holder.query('rollback')
  await pool.query('truncate settlement_celo; truncate expected')
  for (const table of ['settlement', 'expected']) await pool.query(rowsOf(table), [first, 10, null])
  expect(await divideSettlements({ pool, chain: celo, print: () => {} })).toBe(true)
  expect(await differences()).toBe(0)
})

test('what was begun before settlements got another column is begun again', async () => {
  const { pool } = database
  await fill()
  const holder = await pool.connect()
  onTestFinished(() => holder.release(true))
  await holder.query('begin; select from settlement limit 1')
  const patience = { lockTimeoutMs: 50, pauseMs: 1, totalMs: 0 }
  await expect(divideSettlements({ pool, chain: celo, print: () => {}, patience })).rejects.toThrow('lock timeout')
  await holder.query('rollback')
  for (const table of ['settlement', 'expected']) await pool.query(`alter table ${table} add column later int`)
  expect(await divideSettlements({ pool, chain: celo, print: () => {} })).toBe(true)
  expect(await differences()).toBe(0)
  await pool.query('alter table settlement drop column later; alter table expected drop column later')
})

test('a table that a backfill loads aside is not divided under it', async () => {
  const { pool } = database
  await makeUndivided(pool, 'optimism')
  const { optimism } = readChains({ env: {} })
  await reserveRange(pool, optimism, { fromBlock: 1, toBlock: 1_000 }, 1)
  await expect(divideSettlements({ pool, chain: optimism, print: () => {} })).rejects.toThrow('--abandon')
  await pool.query('delete from backfill')
  expect(await divideSettlements({ pool, chain: optimism, print: () => {} })).toBe(true)
  await inTransaction(pool, (db) => ensurePartitions(db, 'optimism', 200 * million))
})

test('a chain that was divided with its rows is archived and brought back as any', async () => {
  const world = await archiveWorld({ isDividedLate: true })
  onTestFinished(() => world.drop())
  const folder = await exportFolder()
  const before = await settlementsOf(world)
  await runArchive(archiveOf(world, folder), task('archive'))
  expect((await settlementsOf(world)).length).toBeLessThan(before.length)
  await runArchive(archiveOf(world, folder), task('check'))
  for (let partition = 0; partition < 2; partition++) await runArchive(archiveOf(world, folder), task('restore'))
  expect(await settlementsOf(world)).toEqual(before)
})
