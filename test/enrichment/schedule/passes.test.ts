import { expect, test } from 'vitest'
import { addSubjects } from '../../../db/queries/sources/source-state.ts'
import { createPasses } from '../../../enrichment/schedule/passes.ts'
import type { Source } from '../../../enrichment/schedule/source.ts'
import { createHost } from '../../../hosts/host.ts'
import { minute } from '../../../ops/time.ts'
import { testDatabase } from '../../support/database.ts'

const database = testDatabase()
const now = () => new Date()

test('a loop reads others while some reads take long, as many at once as it may, and ends when they do', async () => {
  const { pool } = database
  let resolveSlow = () => {}
  const slow = new Promise<void>((resolve) => {
    resolveSlow = resolve
  })
  const begun: string[] = []
  const source: Source = {
    name: 'toy',
    host: createHost({ name: 'toy', requestsPerSecond: 10_000 }),
    batch: 2,
    perRead: 1,
    atOnce: 3,
    leaseMs: minute,
    retry: { baseMs: minute, capMs: minute },
    async read([leased]) {
      const { subject } = leased!
      begun.push(subject)
      if (subject.startsWith('slow')) await slow
      if (subject === 'slow-2') throw new Error('that took too long')
      return { outcome: `ok ${subject}`, write: async () => 60 * minute }
    },
  }
  const passes = createPasses(source, { pool, now, random: () => 0.5, failed: () => {} })
  for (const subject of ['slow-1', 'slow-2', 'quick-1', 'quick-2', 'slow-3', 'quick-3']) {
    await addSubjects(pool, 'toy', [subject], { priority: 0, dueAt: now() })
  }
  const read = async () => {
    const { leased, outcomes } = await passes.run()
    return [leased, outcomes.toSorted()]
  }
  expect(await read()).toEqual([2, []])
  expect(await read()).toEqual([1, ['ok quick-1']])
  expect(await read()).toEqual([1, ['ok quick-2']])
  expect(await read()).toEqual([1, []])
  expect(await read()).toEqual([0, []]) // three are under way
  expect(begun).not.toContain('quick-3')
  let hasEnded = false
  const ended = passes.ended().then(() => {
    hasEnded = true
  })
  expect(hasEnded).toBe(false)
  resolveSlow()
  await ended
  expect(await read()).toEqual([1, ['ok quick-3', 'ok slow-1', 'ok slow-3', 'unforeseen']])
})
