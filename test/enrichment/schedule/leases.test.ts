import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Queryable } from '../../../db/pool.ts'
import { leaseDue, leaseTail } from '../../../db/queries/sources/source-state.ts'
import { minute } from '../../../ops/time.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { rounds } from '../../support/rounds.ts'

// A source with very many subjects, of which an eighth waits urgently for a host that failed, and none is due.

const subjects = rounds(40_000, 1_000_000)
/** Pages that a few lookups in an index take, and that no scan of such a source makes do with. */
const mostPages = 60
const now = new Date('2026-03-01T00:00:00Z')
const order = { source: 'wide', leaseId: crypto.randomUUID(), now, until: new Date(now.getTime() + minute), limit: 8 }

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
  await database.pool.query(
    `insert into source_state (source, subject, due_at, priority)
     select 'wide', 'fid:' || n, $2::timestamptz + n * interval '1 second', case when n % 8 = 0 then 1 + n / 8 % 2 else 0 end
       from generate_series(1, $1::int) n`,
    [subjects, now],
  )
  await database.pool.query('vacuum analyze source_state')
})
afterAll(() => database.drop())

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly Plan[]
}

/** The pages that statements took, and by what rows of the source were found, while they were run as they are. */
async function costOf(run: (db: Queryable) => Promise<unknown>) {
  const plans: Plan[] = []
  const explaining = {
    async query({ text, values }: { text: string; values: unknown[] }) {
      const { rows } = await database.pool.query(`explain (analyze, buffers, format json) ${text}`, values)
      plans.push(rows[0]['QUERY PLAN'][0].Plan)
      return { rows: [], rowCount: 0 }
    },
  }
  await run(explaining as unknown as Queryable)
  const nodes = (plan: Plan): readonly Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)]
  const scans = plans.flatMap(nodes).filter((node) => /Scan/.test(node['Node Type']) && node['Relation Name'])
  return {
    pages: plans.reduce((sum, plan) => sum + plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], 0),
    conditions: scans.map((node) => node['Index Cond'] ?? node['Node Type']),
  }
}

/** One range of the index source_state_due, or one row by its key. */
const isNarrow = /priority = \d.*due_at <=|subject = /

test.each([
  ['the most urgent', leaseDue],
  ['the rest', leaseTail],
])('%s are found by index while none is due', async (_, lease) => {
  const { pages, conditions } = await costOf((db) => lease(db, order))
  expect(pages).toBeLessThan(mostPages)
  for (const condition of conditions) expect(condition).toMatch(isNarrow)
})

test('the most urgent are found by index where some of every priority are due', async () => {
  const { rows } = await database.pool.query<{ subject: string; priority: number }>(
    `update source_state set due_at = $1::timestamptz - interval '1 hour' where subject in ('fid:8', 'fid:16', 'fid:24', 'fid:1', 'fid:2')
     returning subject, priority`,
    [now],
  )
  expect(rows.map(({ priority }) => priority).toSorted()).toEqual([0, 0, 1, 2, 2])
  const { pages, conditions } = await costOf((db) => leaseDue(db, order))
  expect(pages).toBeLessThan(2 * mostPages) // and those of writing them
  for (const condition of conditions) expect(condition).toMatch(isNarrow)
})
