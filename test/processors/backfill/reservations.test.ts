import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { events } from '../../../abi/generated/dollar-token.ts'
import { readChains } from '../../../chains.file.ts'
import { createPool, inTransaction } from '../../../db/pool.ts'
import { cutRange, reserveRange } from '../../../processors/backfill/reservation.ts'
import { gapsBetween, withoutBackfilled } from '../../../processors/backfilled.ts'
import type { TestDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'
import { chain, type LoadRun, startLoadRun } from './load-run.ts'

let run: LoadRun
beforeAll(async () => {
  run = await startLoadRun()
})
afterAll(() => run?.end())

const range = (from: number, to: number) => ['--chain', 'base', '--from', from, '--to', to, '--workers', 1]

describe('next to the chain’s processor', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await run.database()
    expect((await run.load(database, range(1_100, 1_299))).code).toBe(0)
    const processor = await run.processor(database)
    await processor.untilIndexed(chain.lastBlock)
    await processor.stop()
  })

  test('each settlement is loaded by one of the two', async () => {
    expect(await run.difference(database)).toBe('')
  })

  test('what the processor has indexed wholly is refused with one line', async () => {
    const { code, stderr } = await run.load(database, range(1_300, 1_310))
    expect(stderr).toBe(
      'blocks 1300 to 1310 of base are indexed by its processor already, which is at block 1599: ' +
        'there is nothing to load\n',
    )
    expect(code).toBe(1)
  })

  test('what another backfill loads is refused with one line', async () => {
    const { code, stderr } = await run.load(database, range(1_299, 1_400))
    expect(stderr).toBe(
      'blocks 1299 to 1400 of base overlap the backfill of 1100 to 1299, which is loaded already; ' +
        'choose blocks outside of it\n',
    )
    expect(code).toBe(1)
  })

  test('blocks that are not final yet are refused with one line', async () => {
    const { code, stderr } = await run.load(database, range(1_500, 1_600))
    expect(stderr).toMatch(/^--to 1600 is not final yet: the newest final block of .* is 1599\n$/)
    expect(code).toBe(2)
  })
})

test('beside a processor that has begun a backfill loads the rest, and the processor does not download it', async () => {
  const database = await run.database()
  // The first answer is cut short and its batch committed; the next request is told to retry in 8 s.
  run.portal.faults.add({ kind: 'cut', lines: 120, how: 'end' })
  run.portal.faults.add({ kind: 'status', status: 529, retryAfterSeconds: 8 })
  const processor = await run.processor(database)
  onTestFinished(() => processor.stop())
  const { indexedBlock } = await processor.untilIndexed(1_000)
  expect(indexedBlock).toBeLessThan(1_500)
  // The processor is frozen while it waits, so that it does not retry before the load has ended.
  await until('it waits', () => run.portal.requests.some(({ status }) => status === 529))
  process.kill(processor.pid, 'SIGSTOP')
  const { code, stdout, stderr } = await run.load(database, range(1_000, 1_599))
  process.kill(processor.pid, 'SIGCONT')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(`skipping blocks 1000 to ${indexedBlock}, which the processor has indexed itself`)
  const before = run.portal.requests.length
  await processor.untilIndexed(chain.lastBlock)
  expect(await run.difference(database)).toBe('')
  const asked = run.portal.requests.slice(before).filter(({ path }) => path.endsWith('/finalized-stream'))
  // The request that was retried was built before the backfill, so it is left out.
  const later = asked.filter(({ body }) => JSON.parse(body).fromBlock > indexedBlock + 1)
  expect(later.length).toBeGreaterThan(0)
  for (const { body } of later) expect(body).not.toContain(events.AuthorizationUsed.topic)
  expect((await run.load(database, range(1_000, 1_599))).stdout).toMatch(/are loaded already/)
})

test('a processor that runs leaves the rows of a reservation out, and a reservation waits for its transaction', async () => {
  const { url } = await run.database()
  const pool = createPool({ databaseUrl: url, name: 'reservations test' })
  const base = readChains({ env: {} }).base
  const row = (blockNumber: number) => ({ blockNumber }) as never
  const settled = {
    settlements: [row(4_000_000), row(4_000_009)],
    payments: [row(4_000_001), row(4_000_008)],
    unpaid: [{ blockNumber: 4_000_003, token: '0x', count: 1 }],
  }
  let reserved = false
  let reservation: Promise<unknown> | undefined
  await inTransaction(pool, async (client) => {
    expect(await withoutBackfilled(client, base, settled)).toEqual(settled)
    reservation = reserveRange(pool, base, { fromBlock: 4_000_000, toBlock: 4_000_004 }, 1).then(() => {
      reserved = true
    })
    await until('the reservation waits', async () => {
      const { rows } = await pool.query(`select from pg_locks where locktype = 'advisory' and not granted`)
      return rows.length > 0
    })
    await delay(20)
    expect(reserved).toBe(false)
  })
  await reservation
  await inTransaction(pool, async (client) => {
    expect(await withoutBackfilled(client, base, settled)).toEqual({
      settlements: [row(4_000_009)],
      payments: [row(4_000_008)],
      unpaid: [],
    })
  })
  await pool.end()
})

test('the rest of a chain is what no backfill loads', () => {
  const ranges = [
    { fromBlock: 50, toBlock: 59 },
    { fromBlock: 10, toBlock: 19 },
    { fromBlock: 20, toBlock: 29 },
  ]
  expect(gapsBetween(5, ranges)).toEqual([{ from: 5, to: 9 }, { from: 30, to: 49 }, { from: 60 }])
  expect(gapsBetween(12, ranges)).toEqual([{ from: 30, to: 49 }, { from: 60 }])
  expect(gapsBetween(55, ranges)).toEqual([{ from: 60 }])
  expect(gapsBetween(5, [])).toEqual([{ from: 5 }])
})

const anyRange = fc.record({
  fromBlock: fc.nat(40_000_000),
  blocks: fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 40_000_000 })),
  workers: fc.integer({ min: 1, max: 64 }),
  density: fc.array(fc.oneof(fc.constant(0), fc.double({ min: 0, max: 500, noNaN: true })), { maxLength: 8 }),
})

test('shards cover a range without a gap, whatever its length and wherever its payments are', () => {
  fc.assert(
    fc.property(anyRange, ({ fromBlock, blocks, workers, density }) => {
      const toBlock = fromBlock + blocks - 1
      const shards = cutRange({ fromBlock, toBlock }, workers, density)
      expect(shards[0]?.firstBlock).toBe(fromBlock)
      expect(shards.at(-1)?.lastBlock).toBe(toBlock)
      for (const [at, shard] of shards.entries()) {
        expect(shard.firstBlock).toBeLessThanOrEqual(shard.lastBlock)
        if (at > 0) expect(shard.firstBlock).toBe((shards[at - 1]?.lastBlock ?? 0) + 1)
      }
    }),
  )
})

test('shards are short where payments are many', () => {
  const blocks = 8_000_000
  const density = [0, 0, 0, 0, 0.5, 1, 2, 4.5] // settlements a block, in each million
  const shards = cutRange({ fromBlock: 0, toBlock: blocks - 1 }, 4, density)
  const settlements = shards.map(({ firstBlock, lastBlock }) =>
    density.reduce((sum, each, million) => {
      const within = Math.min(lastBlock + 1, (million + 1) * 1_000_000) - Math.max(firstBlock, million * 1_000_000)
      return sum + each * Math.max(within, 0)
    }, 0),
  )
  expect(shards).toHaveLength(16)
  expect(Math.max(...settlements)).toBeLessThan(1.2 * (settlements.reduce((sum, each) => sum + each) / 16))
  expect(shards.slice(0, -1).every(({ lastBlock }) => (lastBlock + 1) % 10_000 === 0)).toBe(true)
})
