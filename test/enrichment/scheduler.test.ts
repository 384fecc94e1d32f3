import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addSubjects, askForSubjects } from '../../db/queries/sources/source-state.ts'
import { type Pass, runPass } from '../../enrichment/schedule/scheduler.ts'
import type { Reading, Source } from '../../enrichment/schedule/source.ts'
import { createHost, type Host } from '../../hosts/host.ts'
import { NoAnswer } from '../../hosts/no-answer.ts'
import { backoffMs, jittered, minute, second } from '../../ops/time.ts'
import { createTestDatabase, type OwnDatabase } from '../support/database.ts'
import { type Clock, createClock } from '../support/enrichment-job.ts'

let database: OwnDatabase
let clock: Clock
let host: Host
let pass: Pass
beforeEach(async () => {
  database = await createTestDatabase()
  clock = createClock('2026-03-01T00:00:00Z')
  host = createHost({ name: 'toy', requestsPerSecond: 10_000, now: clock.now })
  pass = { pool: database.pool, now: clock.now, random: () => 0.5, failed: () => {} }
})
afterEach(() => database.drop())

const name = 'toy'
/** A source that answers at once; `read` may do otherwise. */
function toy(read: (subject: string) => Promise<void> | void = () => {}, options: Partial<Source> = {}): Source {
  return {
    name,
    host,
    batch: 10,
    perRead: 1,
    leaseMs: minute,
    retry: { baseMs: minute, capMs: 60 * minute },
    async read([subject]): Promise<Reading> {
      await read(subject!.subject)
      return { outcome: 'ok', write: async () => 10 * minute }
    },
    ...options,
  }
}

const add = (priority: 0 | 1 | 2, ...subjects: string[]) =>
  addSubjects(database.pool, name, subjects, { priority, dueAt: clock.now() })

async function state(subject: string) {
  const { rows } = await database.pool.query('select * from source_state where subject = $1', [subject])
  return rows[0]
}
const fails = (failure: 'unavailable' | 'rate_limited', retryAfterSeconds?: number) => () => {
  throw new NoAnswer(failure, 'no', { retryAfterSeconds })
}

describe('what is leased', () => {
  test('is the urgent before the rest, with a fifth kept for the rest', async () => {
    await add(0, 'old')
    clock.pass(second)
    await add(0, 'newer')
    await add(1, ...Array.from({ length: 20 }, (_, index) => `seen-${index}`))
    await add(2, 'claimed')
    const read: string[] = []
    await runPass(
      toy((subject) => void read.push(subject)),
      pass,
    )
    expect(read).toHaveLength(10)
    expect(read).toEqual(expect.arrayContaining(['old', 'newer', 'claimed']))
    expect(read.filter((subject) => subject.startsWith('seen'))).toHaveLength(7)
  })

  test('goes to one worker alone, however many there are', async () => {
    const subjects = Array.from({ length: 400 }, (_, index) => `s-${index}`)
    await add(0, ...subjects)
    const read: string[] = []
    const source = toy(async (subject) => {
      read.push(subject)
      await nextTurn()
    })
    const worker = async () => {
      while ((await runPass(source, pass)).leased > 0);
    }
    await Promise.all(Array.from({ length: 8 }, worker))
    expect(read.sort()).toEqual(subjects.sort())
  })

  test('is not what is due later', async () => {
    await addSubjects(database.pool, name, ['later'], { priority: 2, dueAt: new Date(clock.now().getTime() + 1) })
    expect(await runPass(toy(), pass)).toEqual({ leased: 0, outcomes: [] })
  })
})

describe('an answer', () => {
  test('is followed by the next read after its time, a tenth more or less, and is urgent no more', async () => {
    await add(2, 'a')
    await runPass(toy(), { ...pass, random: () => 0 })
    expect(await state('a')).toMatchObject({
      due_at: new Date(clock.now().getTime() + 9 * minute),
      priority: 0,
      lease_id: null,
      last_attempt_at: clock.now(),
      last_success_at: clock.now(),
      last_outcome: 'ok',
    })
  })

  test('that comes after the lease was taken over is not written', async () => {
    await add(0, 'a')
    let slow = true
    const written: string[] = []
    const source = toy(undefined, {
      async read() {
        const label = slow ? 'slow' : 'quick'
        if (slow) {
          slow = false
          clock.pass(2 * minute)
          expect((await runPass(source, pass)).outcomes).toEqual(['ok'])
        }
        return {
          outcome: 'ok',
          async write(db) {
            await db.query('insert into source_cursor values ($1, $2, $3, now())', [name, label, ''])
            written.push(label)
            return minute
          },
        }
      },
    })
    expect((await runPass(source, pass)).outcomes).toEqual(['lease_lost'])
    const { rows } = await database.pool.query('select shard from source_cursor')
    expect(rows).toEqual([{ shard: 'quick' }])
  })

  test('that may be older than what was asked for again is not written, and the subject is read again', async () => {
    await add(0, 'a')
    let reads = 0
    const source = toy(async () => {
      if (++reads === 1) await askForSubjects(database.pool, name, ['a'], { priority: 2, dueAt: clock.now() })
    })
    expect((await runPass(source, pass)).outcomes).toEqual(['lease_lost'])
    expect(await state('a')).toMatchObject({ priority: 2, due_at: clock.now(), last_success_at: null })
    expect((await runPass(source, pass)).outcomes).toEqual(['ok'])
  })
})

describe('a failure', () => {
  test('moves the subject back, longer each time, and counts until the next answer', async () => {
    await add(2, 'a')
    await runPass(toy(fails('unavailable')), { ...pass, random: () => 1 })
    expect(await state('a')).toMatchObject({
      failures: 1,
      priority: 2,
      last_outcome: 'unavailable',
      last_success_at: null,
    })
    expect((await state('a')).due_at).toEqual(clock.pass(minute))
    await runPass(toy(fails('unavailable')), { ...pass, random: () => 1 })
    expect((await state('a')).due_at).toEqual(clock.pass(2 * minute))
    await runPass(toy(), pass)
    expect(await state('a')).toMatchObject({ failures: 0, last_outcome: 'ok' })
  })

  test('waits at most the limit, and any time below it', () => {
    const limits = { baseMs: 60_000, capMs: 3_600_000 }
    expect(backoffMs(limits, 0, () => 0.5)).toBe(30_000)
    expect(backoffMs(limits, 5, () => 1)).toBe(1_920_000)
    expect(backoffMs(limits, 500, () => 1)).toBe(3_600_000)
    expect([jittered(1_000, () => 0), jittered(1_000, () => 1)]).toEqual([900, 1_100])
  })

  test('to have a rate limit closes the host for as long as it says, and is not held against the subject', async () => {
    await add(0, 'a', 'b')
    await runPass(toy(fails('rate_limited', 120), { batch: 1 }), pass)
    const attempted = await state('a')
    expect(attempted).toMatchObject({ failures: 0, last_attempt_at: clock.now(), last_outcome: 'rate_limited' })
    expect(host.state()).toBe('resting')
    expect((await runPass(toy(), pass)).leased).toBe(0)
    expect(await state('b')).toMatchObject({ last_attempt_at: null })
    await expect(host.slot()).rejects.toThrow('asked to wait')
    clock.pass(140 * second)
    expect((await runPass(toy(), pass)).leased).toBe(2)
  })

  test('of a host leaves other hosts alone', async () => {
    await add(0, 'a')
    host.restFor(minute)
    const other = createHost({ name: 'other', requestsPerSecond: 1_000, now: clock.now })
    expect((await runPass(toy(undefined, { host: other }), pass)).leased).toBe(1)
  })
})

describe('a host that fails ten times in a row', () => {
  beforeEach(async () => {
    await add(0, ...Array.from({ length: 30 }, (_, index) => `s-${index}`))
    await runPass(toy(fails('unavailable')), pass)
  })

  test('is not asked for a minute, and no attempt is counted meanwhile', async () => {
    expect(host.state()).toBe('broken')
    const { rows: before } = await database.pool.query('select * from source_state order by subject')
    expect((await runPass(toy(), pass)).leased).toBe(0)
    const { rows: after } = await database.pool.query('select * from source_state order by subject')
    expect(after).toEqual(before)
  })

  test('is then tried with a single subject, and is back with its answer', async () => {
    clock.pass(minute)
    expect((await runPass(toy(), pass)).leased).toBe(1)
    expect((await runPass(toy(), pass)).leased).toBe(10)
  })

  test('and fails the try has its circuit open for twice as long', async () => {
    clock.pass(minute)
    expect((await runPass(toy(fails('unavailable')), pass)).leased).toBe(1)
    clock.pass(minute)
    expect((await runPass(toy(), pass)).leased).toBe(0)
    clock.pass(minute)
    expect((await runPass(toy(), pass)).leased).toBe(1)
  })
})

test('a host of which more than half of the last twenty requests failed has its circuit opened', () => {
  for (let index = 0; index < 20; index++) {
    if (index % 2 === 0) host.failed()
    else host.succeeded()
  }
  expect(host.state()).toBe('answering')
  host.failed()
  host.failed()
  expect(host.state()).toBe('broken')
})

test('a process that stops gives its leases back at once, and has tried nothing', async () => {
  await add(0, 'a')
  const source = toy(async () => {
    host.stop()
    await host.slot()
  })
  expect((await runPass(source, pass)).outcomes).toEqual(['postponed'])
  expect(await state('a')).toMatchObject({ due_at: clock.now(), failures: 0, lease_id: null, last_attempt_at: null })
})
