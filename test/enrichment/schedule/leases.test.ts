import pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { inTransaction, type Queryable } from '../../../db/pool.ts'
import { countDue, leaseDue, leaseTail } from '../../../db/queries/sources/source-state.ts'
import { minute } from '../../../ops/time.ts'
import { testDatabase } from '../../support/database.ts'
import { rounds } from '../../support/rounds.ts'

// A source with very many subjects, none of them due; an eighth has a high priority and waits in backoff.

const subjects = rounds(40_000, 1_000_000)
/** Most pages that a statement may read: enough for a few index lookups, far too few for a scan of the source. */
const mostPages = 60
const now = new Date('2026-03-01T00:00:00Z')
const order = { source: 'wide', leaseId: crypto.randomUUID(), now, until: new Date(now.getTime() + minute), limit: 8 }

const database = testDatabase()
beforeAll(async () => {
  await database.pool.query(
    `insert into source_state (source, subject, due_at, priority)
     select 'wide', 'fid:' || n, $2::timestamptz + n * interval '1 second', case when n % 8 = 0 then 1 + n / 8 % 2 else 0 end
       from generate_series(1, $1::int) n`,
    [subjects, now],
  )
  await database.pool.query('vacuum analyze source_state')
})

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly Plan[]
}

const explain = 'explain (analyze, buffers, format json)'
const literalOf = (value: unknown) => pg.escapeLiteral(value instanceof Date ? value.toISOString() : String(value))

/** Explains a statement under a generic plan, which Postgres may choose after some runs of a prepared statement. */
async function explainUnplanned(text: string, values: unknown[]) {
  return inTransaction(database.pool, async (client) => {
    await client.query('set local plan_cache_mode = force_generic_plan')
    await client.query(`prepare one as ${text}`)
    const explained = await client.query(`${explain} execute one (${values.map(literalOf).join(', ')})`)
    await client.query('deallocate one')
    return explained
  })
}

/** Runs statements; returns the pages they read and each scan's index condition, or its node type without one. */
async function costOf(run: (db: Queryable) => Promise<unknown>, isPlannedForAll = false) {
  const plans: Plan[] = []
  const explaining = {
    async query({ text, values }: { text: string; values: unknown[] }) {
      const { rows } = isPlannedForAll
        ? await explainUnplanned(text, values)
        : await database.pool.query(`${explain} ${text}`, values)
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

/** A condition on one range of the index source_state_due, or on one row by its key. */
const isNarrow = /priority = \d.*due_at <=|subject = /

test.each([
  ['the most urgent', leaseDue, false],
  ['the rest', leaseTail, false],
  ['the most urgent, by a plan for any values,', leaseDue, true],
  ['the rest, by a plan for any values,', leaseTail, true],
])('%s are found by index while none is due', async (_, lease, isPlannedForAll) => {
  const { pages, conditions } = await costOf((db) => lease(db, order), isPlannedForAll)
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
  expect(pages).toBeLessThan(2 * mostPages) // the pages of the update are included
  for (const condition of conditions) expect(condition).toMatch(isNarrow)
})

test('what is due is counted by index, and how long the oldest waits', async () => {
  await database.pool.query(
    `insert into source_state (source, subject, due_at) values ('few', 'fid:1', $1), ('none', 'fid:1', $2)`,
    [new Date(now.getTime() - minute), order.until],
  )
  const { pages, conditions } = await costOf((db) => countDue(db, now))
  expect(pages).toBeLessThan(2 * mostPages)
  expect(conditions).not.toContain('Seq Scan')
  const counted = await countDue(database.pool, now)
  expect(counted.map(({ source, due, late_seconds }) => [source, due, late_seconds])).toEqual([
    ['few', 1, 60],
    ['none', 0, 0],
    ['wide', expect.any(Number), expect.any(Number)],
  ])
  const { rows } = await database.pool.query(
    `select count(*)::int as due, coalesce(greatest(0, extract(epoch from $1 - min(due_at))), 0)::int as late
       from source_state where source = 'wide' and due_at <= $1`,
    [now],
  )
  expect([counted[2]?.due, counted[2]?.late_seconds]).toEqual([rows[0].due, rows[0].late])
})
