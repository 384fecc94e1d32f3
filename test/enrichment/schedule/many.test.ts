import { expect, onTestFinished, test } from 'vitest'
import { addSubjects, leaseSubject } from '../../../db/queries/sources/source-state.ts'
import { runPass } from '../../../enrichment/schedule/scheduler.ts'
import type { Answer, ManySource } from '../../../enrichment/schedule/source.ts'
import { createHost, HostClosed } from '../../../hosts/host.ts'
import { NoAnswer } from '../../../hosts/no-answer.ts'
import { hour, minute } from '../../../ops/time.ts'
import { testDatabase } from '../../support/database.ts'

const database = testDatabase()
const another = '00000000-0000-4000-8000-000000000001'
const now = () => new Date('2026-07-01T00:00:00Z')

interface ToyAnswer extends Answer {
  readonly subject: string
}

test('answers that come together are stored together, without one that is bad and one whose lease is lost', async () => {
  const { pool } = database
  const asked: string[] = []
  const stored: string[][] = []
  const errors: unknown[] = []
  const source: ManySource<ToyAnswer> = {
    name: 'toy',
    host: createHost({ name: 'toy', requestsPerSecond: 10_000 }),
    batch: 10,
    perRead: 1,
    leaseMs: minute,
    retry: { baseMs: minute, capMs: minute },
    async read([leased]) {
      const { subject } = leased!
      asked.push(subject)
      if (subject === 'lost') {
        const until = new Date(now().getTime() + minute)
        await leaseSubject(pool, { source: 'toy', subject, leaseId: another, until })
      }
      return { outcome: subject.slice(0, 4), subject }
    },
    async writeAll(_db, answers) {
      if (answers.some(({ subject }) => subject === 'bad')) throw new Error('cannot be stored')
      stored.push(answers.map(({ subject }) => subject))
      return answers.map(({ subject }) => ({
        inMs: subject === 'gone' ? undefined : 10 * minute,
        failures: subject === 'fail' ? 3 : 0,
      }))
    },
  }
  const subjects = ['bad', 'fail', 'gone', 'good-1', 'good-2', 'good-3', 'lost']
  await addSubjects(pool, 'toy', subjects, { priority: 0, dueAt: now() })
  const failed = (_source: string, of: readonly string[], error: unknown) => void errors.push([of, String(error)])
  const { outcomes } = await runPass(source, { pool, now, random: () => 0.5, failed })

  expect(asked.toSorted()).toEqual(subjects)
  expect(outcomes.toSorted()).toEqual(['fail', 'gone', 'good', 'good', 'good', 'lease_lost', 'unforeseen'])
  expect(stored.flat().toSorted()).toEqual(['fail', 'gone', 'good-1', 'good-2', 'good-3'])
  expect(stored.length).toBeLessThan(5)
  expect(errors).toEqual([[['bad'], 'Error: cannot be stored']])
  const { rows } = await pool.query(
    `select subject, failures, lease_id as lease, last_outcome as outcome, last_success_at is not null as success,
            extract(epoch from due_at - $1)::int / 60 as minutes
       from source_state where source = 'toy' and subject <> 'bad' order by subject`,
    [now()],
  )
  const good = { failures: 0, lease: null, outcome: 'good', success: true, minutes: 10 }
  expect(rows).toEqual([
    { subject: 'fail', failures: 3, lease: null, outcome: 'fail', success: false, minutes: 10 },
    { subject: 'good-1', ...good },
    { subject: 'good-2', ...good },
    { subject: 'good-3', ...good },
    { subject: 'lost', failures: 0, lease: another, outcome: null, success: false, minutes: 1 },
  ])
})

test('subjects that are not read are released together, each with its reason', async () => {
  const { pool } = database
  const later = (minutes: number) => new Date(now().getTime() + minutes * minute)
  const subjects = Array.from({ length: 300 }, (_, n) => `${n % 2 ? 'busy' : 'dead'}-${n}`)
  await addSubjects(pool, 'crowd', subjects, { priority: 0, dueAt: now() })
  const source: ManySource<ToyAnswer> = {
    name: 'crowd',
    host: createHost({ name: 'crowd', requestsPerSecond: Number.POSITIVE_INFINITY }),
    batch: 1_000,
    perRead: 1,
    leaseMs: minute,
    retry: { baseMs: 10 * minute, capMs: hour },
    async read([leased]) {
      const { subject } = leased!
      if (subject.startsWith('busy')) throw new HostClosed('busy', later(Number(subject.split('-')[1])))
      throw new NoAnswer('unavailable', `${subject} is away`, { isAboutOne: true })
    },
    writeAll: async () => [],
  }
  let acquired = 0
  const count = () => void acquired++
  pool.on('acquire', count)
  onTestFinished(() => void pool.off('acquire', count))
  const { outcomes } = await runPass(source, { pool, now, random: () => 0.5, failed: () => {} })
  pool.off('acquire', count)

  expect(outcomes.toSorted()).toEqual([...Array(150).fill('postponed'), ...Array(150).fill('unavailable')])
  expect(acquired).toBeLessThan(10)
  const { rows } = await pool.query(
    `select subject, failures, lease_id as lease, last_outcome as outcome, last_error as error, last_attempt_at as at, due_at as due
       from source_state where source = 'crowd' and subject in ('busy-7', 'dead-8') order by subject`,
  )
  expect(rows).toEqual([
    { subject: 'busy-7', failures: 0, lease: null, outcome: 'postponed', error: null, at: null, due: later(7) },
    {
      subject: 'dead-8',
      failures: 1,
      lease: null,
      outcome: 'unavailable',
      error: 'dead-8 is away',
      at: now(),
      due: expect.any(Date),
    },
  ])
  const { rows: held } = await pool.query(`select from source_state where source = 'crowd' and lease_id is not null`)
  expect(held).toEqual([])
})
