import { expect, test } from 'vitest'
import { inTransaction, type Queryable } from '../../../db/pool.ts'
import { sumDueHours } from '../../../db/queries/income/hours.ts'
import { runIncome } from '../../derive/passes.ts'
import { createTestDatabase, testDatabase } from '../../support/database.ts'
import { rowsRead } from '../../support/rows-read.ts'
import { until } from '../../support/until.ts'
import { empty, store, World } from './income-world.ts'

const database = testDatabase()

/** What `held` waits for. */
const gate = 42
/** Has sessions that set `test.held` wait at the gate when they look at a due hour: after their snapshot, before a lock on it. */
const holdReaders = `
alter table income_due rename to income_due_row;
create function held() returns boolean language plpgsql as $$
begin
  if current_setting('test.held', true) = 'yes' then
    perform pg_advisory_xact_lock_shared(${gate});
  end if;
  return true;
end $$;
create view income_due as select * from income_due_row where held()`

test('what a roll-up commits between the snapshot of a pass and its lock on the hour is summed up', async () => {
  const database = await createTestDatabase()
  const { pool } = database
  try {
    await empty(pool)
    const world = new World(pool)
    await world.take({ kind: 'verify', fid: 1, now: [0] })
    const row = { payer: 1, recipient: 0, sender: 0, selector: 0, amount: 5_000, logIndex: 0 }
    const rollUp = async (block: number) => {
      await store(pool, [{ ...row, block }])
      await world.take({ kind: 'roll up', blocks: 1 })
    }
    await rollUp(0)
    while ((await runIncome({ pool })) > 0);
    await rollUp(1)
    expect((await pool.query('select from income_due')).rowCount).toBe(1)
    await pool.query(holdReaders)
    const keeper = await pool.connect()
    await keeper.query('select pg_advisory_lock($1)', [gate])
    const summed = inTransaction(pool, async (db) => {
      await db.query(`select set_config('test.held', 'yes', true)`)
      return sumDueHours(db, { hours: 10, payments: 100 })
    })
    try {
      await until('the pass has its snapshot', async () => {
        const waiting = `select from pg_locks join pg_database d on d.oid = database
                          where locktype = 'advisory' and not granted and datname = current_database()`
        return (await pool.query(waiting)).rowCount === 1
      })
      await rollUp(2)
    } finally {
      await keeper.query('select pg_advisory_unlock($1)', [gate])
      keeper.release()
      await summed
    }
    while ((await runIncome({ pool })) > 0);
    const { rows } = await pool.query('select sum(n)::int as n from income_hour')
    expect(rows).toEqual([{ n: 3 }])
  } finally {
    await database.drop()
  }
})

test('a sender that gets a name while an hour it sent in is being summed up has the hour summed up again', async () => {
  const { pool } = database
  await empty(pool)
  const world = new World(pool)
  await world.take({ kind: 'verify', fid: 1, now: [0] })
  while ((await runIncome({ pool })) > 0);
  await store(pool, [{ payer: 1, recipient: 0, sender: 0, selector: 0, amount: 5_000, logIndex: 0, block: 0 }])
  await world.take({ kind: 'roll up', blocks: 1 })
  let named: Promise<unknown> | undefined
  let isNamed = false
  await inTransaction(pool, async (db) => {
    expect(await sumDueHours(db, { hours: 10, payments: 100 })).toBe(1)
    named = world.take({ kind: 'name', names: [0] }).finally(() => {
      isNamed = true
    })
    await until('the name is there, or waits for the pass', async () => {
      const waiting = await pool.query(
        `select from pg_locks where relation = 'income_sender'::regclass and not granted`,
      )
      return isNamed || waiting.rowCount === 1
    })
  })
  await named
  while ((await runIncome({ pool })) > 0);
  expect((await pool.query('select x402, n::int from income_hour')).rows).toEqual([{ x402: true, n: 1 }])
})

test('an address with very many due hours keeps nobody waiting, and no pass reads more of them than it takes', async () => {
  const { pool } = database
  // Statistics say that none is due.
  await pool.query('vacuum analyze income_due')
  await pool.query(
    `insert into income_due
     select '\\x00', 'base', timestamptz '2020-01-01' + n * interval '1 hour' from generate_series(1, 20000) n
      union all
     select decode(md5(n::text), 'hex'), 'base', '2026-01-01' from generate_series(1, 100) n`,
  )
  const pass = (db: Queryable) => sumDueHours(db, { hours: 150, payments: 10 })
  expect(await rowsRead(pool, pass, ['income_due'])).toBeLessThan(1_000)
  expect(await inTransaction(pool, pass)).toBeGreaterThan(100)
  expect((await pool.query(`select distinct recipient from income_due`)).rows).toEqual([{ recipient: Buffer.alloc(1) }])
  expect(await inTransaction(pool, pass)).toBe(150)
})

test('where more addresses are due than a pass takes hours, it begins anywhere among them', async () => {
  const { pool } = database
  await pool.query('delete from income_due')
  await pool.query(`insert into income_due select int4send(n), 'base', '2026-01-01' from generate_series(1, 5) n`)
  const begin = Buffer.from('00000003', 'hex')
  expect(await inTransaction(pool, (db) => sumDueHours(db, { hours: 3, payments: 10 }, begin))).toBe(3)
  const { rows } = await pool.query('select recipient from income_due order by 1')
  expect(rows.map(({ recipient }) => recipient.readInt32BE())).toEqual([2, 3])
})
