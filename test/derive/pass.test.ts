import { beforeEach, expect, test } from 'vitest'
import type { Queryable } from '../../db/pool.ts'
import { countWaiting, failingKey, isAnyDue, markDue, takeDue } from '../../db/queries/due/queue.ts'
import type { Derivation } from '../../derive/derivation.ts'
import { derivePass } from '../../derive/pass.ts'
import { testDatabase } from '../support/database.ts'
import { rowsRead } from '../support/rows-read.ts'

const database = testDatabase()
let time: number
const now = () => new Date(time)
const context = () => ({ pool: database.pool, now, settlementOverloads: 'spec' }) as const
beforeEach(async () => {
  time = Date.parse('2026-01-01T00:00:00Z')
  await database.pool.query('delete from due')
})

/** A kind that notes what it derives, and does something else before. */
function kind(before: (key: string) => Promise<void> = async () => {}): Derivation & { readonly derived: string[] } {
  const derived: string[] = []
  return {
    kind: 'rings',
    batch: 10,
    rest: 'soon',
    derived,
    async derive(_, keys): Promise<undefined> {
      for (const key of keys) await before(key)
      derived.push(...keys)
    },
  }
}
const mark = (...keys: string[]) => markDue(database.pool, 'rings', keys)
const marks = async () =>
  (await database.pool.query(`select key, attempts, due_at from due where kind = 'rings' order by due_at, seq`)).rows

test('a key that is marked many times is derived once, and its marks go together', async () => {
  for (let count = 0; count < 3; count++) await mark('a', 'b', 'a')
  await markDue(database.pool, 'rings', ['a'], { dueAt: new Date('2030-01-01') })
  await markDue(database.pool, 'other', ['a'])
  const test = kind()
  expect(await derivePass(test, context())).toBe(2)
  expect(test.derived).toEqual(['a', 'b'])
  expect(await marks()).toEqual([])
  expect(await derivePass(test, context())).toBe(0)
  expect((await database.pool.query('select kind from due')).rows).toEqual([{ kind: 'other' }])
})

test('a mark waits for nobody who derives its key, and is not lost', async () => {
  await mark('a')
  let isFirst = true
  const test = kind(async () => {
    if (isFirst) await mark('a')
    isFirst = false
  })
  await derivePass(test, context())
  expect(await marks()).toHaveLength(1)
  await derivePass(test, context())
  expect(test.derived).toEqual(['a', 'a'])
  expect(await marks()).toEqual([])
})

test('keys without a time come first, then those whose time has come', async () => {
  const { pool } = database
  await markDue(pool, 'rings', ['later'], { dueAt: new Date(time + 1_000) })
  await markDue(pool, 'rings', ['early'], { dueAt: new Date(time - 1_000) })
  await mark('soon')
  const test = { ...kind(), batch: 1 }
  for (const works of [1, 1, 0]) expect(await derivePass(test, context())).toBe(works)
  expect(test.derived).toEqual(['soon', 'early'])
  time += 1_000
  expect(await derivePass(test, context())).toBe(1)
})

test('keys that come due by time alone are marked for then', async () => {
  const dueAt = new Date(time + 1_000)
  await mark('a', 'b')
  const test: Derivation = { ...kind(), derive: async () => [{ key: 'b', dueAt }] }
  expect(await derivePass(test, context())).toBe(2)
  expect(await marks()).toEqual([{ key: 'b', attempts: 0, due_at: dueAt }])
})

test('a key that fails keeps no other waiting, is retried later and later, and is told of', async () => {
  const { pool } = database
  let isBroken = true
  const test = kind(async (key) => {
    if (isBroken && key === 'b') throw new Error('it fails')
  })
  await mark('a', 'b', 'c')
  await expect(derivePass(test, context())).rejects.toThrow('rings: b cannot be derived: it fails')
  expect(test.derived).toEqual(['a', 'c'])
  expect(await derivePass(test, context())).toBe(0)
  for (const [attempts, waitMs] of [
    [1, 1_000],
    [2, 2_000],
    [3, 4_000],
  ]) {
    expect(await marks()).toEqual([{ key: 'b', attempts, due_at: new Date(time + waitMs!) }])
    time += waitMs!
    await expect(derivePass(test, context())).rejects.toThrow('b cannot be derived')
  }
  // A change has it tried at once, and does not make it young again.
  await mark('b', 'd')
  await expect(derivePass(test, context())).rejects.toThrow('b cannot be derived')
  expect(test.derived).toEqual(['a', 'c', 'd'])
  expect(await countWaiting(pool, ['rings', 'other'], now())).toEqual([
    { kind: 'rings', waiting: 0, failing: 1, oldest: 0 },
    { kind: 'other', waiting: 0, failing: 0, oldest: 0 },
  ])
  expect(await failingKey(pool, 5)).toEqual({ kind: 'rings', key: 'b', attempts: 5 })
  expect(await failingKey(pool, 6)).toBeUndefined()
  isBroken = false
  time += 60_000
  expect(await derivePass(test, context())).toBe(1)
  expect(await marks()).toEqual([])
})

test('of keys that take turns, the one that fails is deferred, and no other', async () => {
  const keys = [...'2468ace0'].map((owner) => `${owner}:base:1`)
  const [failing] = keys.slice(-1)
  const test = kind(async (key) => {
    if (key === failing) throw new Error('it fails')
  })
  await mark(...keys)
  await expect(derivePass({ ...test, turns: true }, context())).rejects.toThrow(`rings: ${failing} cannot be derived`)
  expect(test.derived.toSorted()).toEqual(keys.slice(0, -1))
  expect(await marks()).toMatchObject([{ key: failing, attempts: 1 }])
})

test('two processes never derive a kind at the same time', async () => {
  const { pool } = database
  await mark(...'abcdefghijklmnopqrst')
  let running = 0
  let most = 0
  const test = kind(async () => {
    most = Math.max(most, ++running)
    await pool.query('select 1')
    running--
  })
  const passes = [1, 2, 3].map(() => derivePass({ ...test, batch: 5 }, context()))
  await Promise.all(passes)
  expect(most).toBe(1)
  expect(test.derived).toEqual([...'abcdefghijklmno'])
})

test('what is due among very many marks is taken without a look at them', async () => {
  const { pool } = database
  await pool.query('vacuum analyze due') // to the planner the queue is empty
  await pool.query(`
    insert into due (kind, key, due_at)
    select 'crowd', i::text, case when i % 2 = 0 then timestamptz '2030-01-01' else '-infinity' end from generate_series(1, 100000) i`)
  await mark('a', 'a', 'b')
  let taken: string[] = []
  const take = async (db: Queryable) => {
    taken = (await takeDue(db, { kind: 'rings', now: now(), limit: 10 })).map(({ key }) => key)
  }
  expect(await rowsRead(pool, take, ['due'])).toBeLessThan(20)
  expect(taken).toEqual(['a', 'b'])
  const takeOfCrowd = async (db: Queryable) => {
    await takeDue(db, { kind: 'crowd', now: now(), limit: 10 })
  }
  // Six times: a connection keeps a plan for any values then.
  for (let n = 0; n < 6; n++) expect(await rowsRead(pool, takeOfCrowd, ['due'])).toBeLessThan(60)
})

test('of a kind that has nothing due no mark of others is read, however many there are, and whatever statistics say', async () => {
  const { pool } = database
  await pool.query(
    `insert into due (kind, key) select case n % 2 when 0 then 'other' else 'rings' end, n from generate_series(1, 20000) n`,
  )
  await pool.query('analyze due')
  await pool.query(`delete from due where kind = 'rings'`)
  expect(await rowsRead(pool, (db) => isAnyDue(db, 'rings', now()), ['due'])).toBe(0)
  expect(await rowsRead(pool, (db) => countWaiting(db, ['rings'], now()), ['due'])).toBe(0)
})
