import { expect, test } from 'vitest'
import { addSubjects, leaseSubject } from '../../../db/queries/sources/source-state.ts'
import { runPass } from '../../../enrichment/schedule/scheduler.ts'
import type { Answer, ManySource } from '../../../enrichment/schedule/source.ts'
import { createHost } from '../../../hosts/host.ts'
import { minute } from '../../../ops/time.ts'
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
