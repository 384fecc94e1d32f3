import { expect, onTestFinished, test } from 'vitest'
import { addSubjects, leaseSubject } from '../../../db/queries/sources/source-state.ts'
import { createPasses } from '../../../enrichment/schedule/passes.ts'
import type { ManySource } from '../../../enrichment/schedule/source.ts'
import { createHost, HostClosed } from '../../../hosts/host.ts'
import { NoAnswer } from '../../../hosts/no-answer.ts'
import { minute } from '../../../ops/time.ts'
import { testDatabase } from '../../support/database.ts'

const database = testDatabase()
const another = '00000000-0000-4000-8000-000000000001'
const at = new Date('2026-07-01T00:00:00Z')
const now = () => at
const inMs = (ms: number) => new Date(at.getTime() + ms)
const passes = 4
const batch = 60

test('what several passes cannot read at the same time is released in a few statements, each in its own way', async () => {
  const { pool } = database
  let close = () => {}
  const closed = new Promise<void>((resolve) => {
    close = resolve
  })
  const endOf = (kind: string) => {
    if (kind === 'ours') return new Error('a fault of this service')
    if (kind === 'asked') return new HostClosed('asked to wait', inMs(2 * minute), true)
    if (kind === 'late') return new NoAnswer('rate_limited', 'too many', { retryAfterSeconds: 60 })
    return kind === 'failed' ? new NoAnswer('unavailable', 'no answer') : new HostClosed('busy', inMs(minute))
  }
  const source: ManySource = {
    name: 'toy',
    host: createHost({ name: 'toy', requestsPerSecond: 10_000 }),
    batch,
    perRead: 1,
    atOnce: passes * batch,
    leaseMs: minute,
    retry: { baseMs: minute, capMs: minute },
    async read([leased]) {
      await closed
      throw endOf(leased!.subject.split('-')[0]!)
    },
    writeAll: async () => [],
  }
  const kinds = ['asked', 'busy', 'failed', 'late', 'lost', 'ours']
  const subjects = Array.from({ length: passes * batch }, (_, n) => `${kinds[n % kinds.length]}-${n}`)
  await addSubjects(pool, 'toy', subjects, { priority: 0, dueAt: at })
  const loop = createPasses(source, { pool, now, random: () => 0.5, failed: () => {} })
  for (let n = 0; n < passes; n++) expect((await loop.run()).leased).toBe(batch)
  for (const subject of subjects.filter((one) => one.startsWith('lost')))
    await leaseSubject(pool, { source: 'toy', subject, leaseId: another, until: at })

  let connections = 0
  const count = () => void connections++
  pool.on('acquire', count)
  onTestFinished(() => void pool.off('acquire', count))
  close()
  await loop.ended()
  expect(connections).toBeLessThanOrEqual(2)

  const { rows } = await pool.query(
    `select split_part(subject, '-', 1) as kind, count(*)::int as n, failures, lease_id as lease, last_outcome as outcome,
            last_error as error, last_attempt_at is not null as attempted, due_at > $1 as later
       from source_state where source = 'toy' group by 1, 3, 4, 5, 6, 7, 8 order by 1`,
    [at],
  )
  const given = { n: subjects.length / kinds.length, failures: 0, lease: null, attempted: true, later: true }
  expect(rows).toEqual([
    { ...given, kind: 'asked', outcome: 'postponed', error: null },
    { ...given, kind: 'busy', outcome: 'postponed', error: null, attempted: false },
    { ...given, kind: 'failed', outcome: 'unavailable', error: 'no answer', failures: 1 },
    { ...given, kind: 'late', outcome: 'rate_limited', error: 'too many' },
    { ...given, kind: 'lost', outcome: null, error: null, lease: another, attempted: false, later: false },
    { ...given, kind: 'ours', outcome: 'unforeseen', error: 'a fault of this service' }, // no failure of theirs
  ])
})
