import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deriveAll } from '../../derive/again.ts'
import { testDatabase } from '../../support/database.ts'
import { rounds } from '../../support/rounds.ts'
import { birth } from '../../support/seed.ts'
import { expected, history, store } from './history.ts'

const database = testDatabase()

test('whose the client of a feedback was, and whether it had paid, is what a count over the facts says', async () => {
  const { pool } = database
  const context = { pool, now: () => new Date(birth.getTime() + 86_400_000), settlementOverloads: 'spec' } as const
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(history, async (events) => {
      await store(pool, events)
      await deriveAll(context)
      const { rows } = await pool.query<{ said: string }>(
        `select concat_ws(' ', fid, id, kind, coalesce(client_fid::text, ''), paid, before_holder) as said from judged_feedback`,
      )
      const said = rows.map((row) => row.said.replace(/\bt\b/g, 'true').replace(/\bf\b/g, 'false'))
      for (const one of said) seen.add(one.split(' ').slice(2).join(' ').replace(/\d+/, 'n'))
      expect([...said].sort()).toEqual(expected(events))
    }),
    { numRuns: rounds(10, 60), endOnFailure: true },
  )
  for (const kind of ['self', 'agent', 'stranger'])
    expect(
      [...seen].some((one) => one.startsWith(kind)),
      kind,
    ).toBe(true)
  expect(
    [...seen].some((one) => one.endsWith('true false')),
    'paid',
  ).toBe(true)
  expect(
    [...seen].some((one) => one.endsWith('true')),
    'before the holder',
  ).toBe(true)
})
