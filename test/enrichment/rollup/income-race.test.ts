import type pg from 'pg'
import { expect, test } from 'vitest'
import { inTransaction, type Queryable } from '../../../db/pool.ts'
import { runIncome, sumDueHours } from '../../derive/passes.ts'
import { createTestDatabase, testDatabase } from '../../support/database.ts'
import { rowsRead } from '../../support/rows-read.ts'
import { until } from '../../support/until.ts'
import { empty, store } from './income-rows.ts'
import { World } from './income-world.ts'

const database = testDatabase()

/** What `held` waits for. */
const gate = 42
/** Has sessions that set `test.held` wait at the gate when they take what is due: after their snapshot, before they look. */
const holdTakers = `
create function held() returns trigger language plpgsql as $$
begin
  if current_setting('test.held', true) = 'yes' then
    perform pg_advisory_xact_lock_shared(${gate});
  end if;
  return null;
end $$;
create trigger held before delete on due for each statement execute function held()`

test('what a roll-up commits between the snapshot of a pass and its taking the hour is summed up', async () => {
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
    expect(await dueHours(pool)).toHaveLength(1)
    await pool.query(holdTakers)
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
        `select from pg_locks where relation = 'facilitator_sender'::regclass and not granted`,
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
  await pool.query('vacuum analyze due')
  await pool.query(
    `insert into due (kind, key)
     select 'income hours', '00:base:' || 400000 + n from generate_series(1, 20000) n
      union all
     select 'income hours', md5(n::text) || ':base:490000' from generate_series(1, 100) n`,
  )
  const pass = (db: Queryable) => sumDueHours(db, { hours: 150, payments: 10 })
  expect(await rowsRead(pool, pass, ['due'])).toBeLessThan(1_000)
  expect(await inTransaction(pool, pass)).toBeGreaterThan(100)
  expect(new Set((await dueHours(pool)).map((key) => key.split(':')[0]))).toEqual(new Set(['00']))
  expect(await inTransaction(pool, pass)).toBe(150)
})

test('where more addresses are due than a pass takes hours, it begins anywhere among them', async () => {
  const { pool } = database
  await pool.query('delete from due')
  await pool.query(
    `insert into due (kind, key) select 'income hours', '0' || n || ':base:1' from generate_series(1, 5) n`,
  )
  expect(await inTransaction(pool, (db) => sumDueHours(db, { hours: 3, payments: 10 }, '03'))).toBe(3)
  expect(await dueHours(pool)).toEqual(['02:base:1', '03:base:1'])
})

async function dueHours(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ key: string }>(`select key from due where kind = 'income hours' order by key`)
  return rows.map(({ key }) => key)
}
