import { afterEach, beforeEach, expect, test } from 'vitest'
import { inTransaction } from '../../db/pool.ts'
import { reserveRequests, restHost } from '../../db/queries/sources/host-budgets.ts'
import { addSubjects } from '../../db/queries/sources/source-state.ts'
import { createSharedHost } from '../../enrichment/host-budget.ts'
import { type Pass, runPass } from '../../enrichment/schedule/scheduler.ts'
import type { Source } from '../../enrichment/schedule/source.ts'
import { createHost, type Urgency } from '../../hosts/host.ts'
import { createTestDatabase, type OwnDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

// Processes that share a database share the work and the rate limits of hosts.

let database: OwnDatabase
let at = Date.parse('2026-03-02T00:00:00Z')
const now = () => new Date(at)
beforeEach(async () => {
  database = await createTestDatabase()
})
afterEach(() => database.drop())

const sharedHost = (requestsPerSecond: number) =>
  createSharedHost({ pool: database.pool, name: 'toy', requestsPerSecond, perDay: null, now: () => new Date() })

test('a read that takes longer than its lease is not taken by the process next to it', async () => {
  const leaseMs = 300
  const others: string[] = []
  let reads = 0
  const slow: Source = {
    name: 'toy',
    host: createHost({ name: 'toy', requestsPerSecond: 10_000 }),
    batch: 10,
    perRead: 1,
    leaseMs,
    retry: { baseMs: 1_000, capMs: 1_000 },
    async read() {
      reads++
      for (let part = 0; part < 5; part++) {
        at += leaseMs / 2
        await until('the lease is renewed', async () => {
          const { rows } = await database.pool.query('select due_at from source_state')
          return rows[0].due_at.getTime() === at + leaseMs
        })
        others.push(...(await runPass(slow, pass)).outcomes)
      }
      return { outcome: 'ok', write: async () => 60_000 }
    },
  }
  const pass: Pass = { pool: database.pool, now, random: () => 0.5, failed: () => {} }
  await addSubjects(database.pool, 'toy', ['slow'], { priority: 0, dueAt: now() })
  expect((await runPass(slow, pass)).outcomes).toEqual(['ok'])
  expect([reads, others]).toEqual([1, []])
})

test('a lease whose holder died is free again after its time', async () => {
  const source: Source = {
    name: 'toy',
    host: createHost({ name: 'toy', requestsPerSecond: 10_000 }),
    batch: 10,
    perRead: 1,
    leaseMs: 200,
    retry: { baseMs: 1_000, capMs: 1_000 },
    read: async () => ({ outcome: 'ok', write: async () => 60_000 }),
  }
  const pass: Pass = { pool: database.pool, now, random: () => 0.5, failed: () => {} }
  await addSubjects(database.pool, 'toy', ['a'], { priority: 0, dueAt: now() })
  await database.pool.query('update source_state set lease_id = gen_random_uuid(), due_at = $1', [new Date(at + 200)])
  expect((await runPass(source, pass)).leased).toBe(0)
  at += 200
  expect((await runPass(source, pass)).outcomes).toEqual(['ok'])
})

test.each([4, 50])('two processes together ask a host %i times a second at most', async (requestsPerSecond) => {
  const sent: number[] = []
  const ask = async () => {
    const host = sharedHost(requestsPerSecond)
    while (sent.length < 2 * requestsPerSecond) {
      await host.slot()
      sent.push(performance.now())
    }
  }
  const began = performance.now()
  await Promise.all([ask(), ask()])
  expect(sent.length).toBeGreaterThanOrEqual(2 * requestsPerSecond)
  // Measured from the start, not from the first request, which may be late on a busy machine.
  for (const [index, time] of sent.entries()) {
    expect(index + 1).toBeLessThanOrEqual(((time - began) / 1_000) * requestsPerSecond * 1.05 + 2)
  }
})

test('a host that asked one process to wait is not asked by another', async () => {
  const one = sharedHost(100)
  const other = sharedHost(100)
  await one.rest(60_000)
  await expect(other.slot()).rejects.toThrow(/asked no more until/)
  expect(other.capacity()).toBe(0)
})

test('a rest that is noted while a request asks for its turn ends when the host said, not with the day', async () => {
  const { pool } = database
  const asked = { host: 'toy', count: 1, intervalMs: 1, perDay: null, now: now() }
  await reserveRequests(pool, asked)
  const ends = new Date(at + 60_000)
  const [reserved] = await inTransaction(pool, async (db) => {
    await restHost(db, { host: 'toy', until: ends, now: now() })
    const turn = reserveRequests(pool, asked)
    await until('the turn waits for the rest', async () => {
      const { rowCount } = await pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rowCount === 1
    })
    return [turn]
  })
  expect(await reserved).toEqual({ until: ends })
})

test('of requests that wait, urgent ones go first, and the others are not forgotten', async () => {
  const host = createHost({ name: 'toy', requestsPerSecond: 200 })
  const order: Urgency[] = []
  const ask = async (urgency: Urgency) => {
    await host.slot(urgency)
    order.push(urgency)
  }
  await Promise.all([
    ...Array.from({ length: 4 }, () => ask('spare')),
    ...Array.from({ length: 4 }, () => ask('usual')),
    ...Array.from({ length: 8 }, () => ask('urgent')),
  ])
  expect(order.slice(0, 10).filter((urgency) => urgency === 'urgent')).toHaveLength(8)
  expect(order[4]).toBe('spare')
  expect(order.indexOf('usual')).toBeLessThan(order.lastIndexOf('spare'))
})
