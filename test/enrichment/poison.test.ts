import { afterEach, beforeEach, expect, test } from 'vitest'
import { createPool } from '../../db/pool.ts'
import { addSubjects } from '../../db/queries/sources/source-state.ts'
import { type Pass, runPass } from '../../enrichment/schedule/scheduler.ts'
import type { Reading, Source } from '../../enrichment/schedule/source.ts'
import { createHost, type Host } from '../../hosts/host.ts'
import { NoAnswer } from '../../hosts/no-answer.ts'
import { minute } from '../../ops/time.ts'
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
/** A source that answers at once, unless `read` does otherwise. */
function toy(options: Partial<Source> = {}): Source {
  return {
    name,
    host,
    batch: 10,
    perRead: 1,
    leaseMs: minute,
    retry: { baseMs: minute, capMs: 60 * minute },
    read: async (): Promise<Reading> => ({ outcome: 'ok', write: async () => 10 * minute }),
    ...options,
  }
}

const add = (...subjects: string[]) => addSubjects(database.pool, name, subjects, { priority: 0, dueAt: clock.now() })

async function state(subject: string) {
  const { rows } = await database.pool.query('select * from source_state where subject = $1', [subject])
  return rows[0]
}

test('an answer that the database refuses is a failed attempt of its subject, which says why, and of nobody else', async () => {
  await add('a', 'poison', 'b')
  const told: string[] = []
  const source = toy({
    async read([subject]) {
      const word = subject!.subject === 'poison' ? 'with a \0 in it' : 'good'
      return {
        outcome: 'ok',
        write: (db) =>
          db
            .query('insert into source_cursor values ($1, $2, $3, now())', [name, subject!.subject, word])
            .then(() => minute),
      }
    },
  })
  const failed: Pass['failed'] = (_, subjects, error) => told.push(`${subjects}: ${error.message}`)
  expect((await runPass(source, { ...pass, failed })).outcomes).toEqual(expect.arrayContaining(['ok', 'unforeseen']))
  expect(told).toEqual(['poison: invalid byte sequence for encoding "UTF8": 0x00'])
  expect(await state('poison')).toMatchObject({
    failures: 1,
    last_attempt_at: clock.now(),
    last_success_at: null,
    last_outcome: 'unforeseen',
    last_error: 'invalid byte sequence for encoding "UTF8": 0x00',
    lease_id: null,
    due_at: new Date(clock.now().getTime() + minute / 2),
  })
  clock.pass(minute / 2)
  expect((await runPass(toy(), pass)).outcomes).toEqual(['ok'])
  expect(await state('poison')).toMatchObject({ failures: 0, last_error: null })
})

test.each([
  ['nobody foresaw', () => new Error('Cannot read properties of undefined\0'), 'unforeseen'],
  ['is not what it should be', () => new NoAnswer('bad_answer', 'not JSON'), 'bad_answer'],
])(
  'an answer about many that %s is asked for in parts, until the one it is about stands alone',
  async (_, error, outcome) => {
    const subjects = Array.from({ length: 10 }, (_, index) => `s-${index}`)
    await add(...subjects)
    const source = toy({
      perRead: 10,
      async read(group) {
        if (group.some(({ subject }) => subject === 's-7')) throw error()
        return { outcome: 'ok', write: async () => 10 * minute }
      },
    })
    await runPass(source, pass)
    const { rows } = await database.pool.query(
      'select subject, last_outcome as outcome, failures from source_state order by subject',
    )
    expect(rows).toEqual(
      subjects.map((subject) =>
        subject === 's-7' ? { subject, outcome, failures: 1 } : { subject, outcome: 'ok', failures: 0 },
      ),
    )
    expect(host.state()).toBe('answering')
  },
)

test('an answer that the database is not there to take leaves the subject to whoever comes after the lease', async () => {
  await add('a')
  const gone = createPool({ databaseUrl: database.url, name: 'gone', max: 2 })
  const source = toy({
    async read() {
      await gone.end()
      return { outcome: 'ok', write: async () => minute }
    },
  })
  await expect(runPass(source, { ...pass, pool: gone })).rejects.toThrow()
  expect((await runPass(toy(), pass)).leased).toBe(0)
  clock.pass(minute)
  expect((await runPass(toy(), pass)).outcomes).toEqual(['ok'])
})
