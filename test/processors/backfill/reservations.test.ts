import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { events } from '../../../abi/generated/dollar-token.ts'
import { paymentChain } from '../../../bench/payment-chain.ts'
import { readChains } from '../../../config/chains.file.ts'
import { lockClasses } from '../../../db/lock-keys.ts'
import { createPool, inTransaction } from '../../../db/pool.ts'
import { writeChainState } from '../../../db/queries/chain/chain-state.ts'
import { cutRange, reserveHistory, reserveRange } from '../../../processors/backfill/reservation.ts'
import { gapsBetween, withoutBackfilled } from '../../../processors/backfilled.ts'
import { startPortal } from '../../doubles/portal/server.ts'
import { runBackfill } from '../../support/chain/backfill.ts'
import { spawnProcessor } from '../../support/chain/processor.ts'
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

  test('of what the processor has indexed wholly there is nothing to load, and nothing wrong', async () => {
    const { code, stdout, stderr } = await run.load(database, range(1_300, 1_310))
    expect(stdout).toMatch(
      /^blocks 1300 to 1310 of base are indexed by its processor already: there is nothing to load$/m,
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
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

test('next to a processor that has begun a backfill loads the rest, and the processor does not download it', async () => {
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

describe('a long history before the registry', () => {
  const base = readChains({ env: {} }).base
  const first = base.tokens[0]!.fromBlock
  const last = base.registry.fromBlock - 1
  let database: TestDatabase
  beforeAll(async () => {
    database = await run.database()
  })

  const reservations = async ({ pool } = database) => {
    const { rows } = await pool.query<{ from: number; to: number; shards: string[] }>(
      `select from_block as from, to_block as to,
              array_agg(first_block || ' to ' || last_block order by first_block) as shards
         from backfill b join backfill_shard s on s.backfill_id = b.id group by b.id order by from_block`,
    )
    // Shards cover their reservation without gap or overlap.
    for (const { from, to, shards } of rows) {
      const parts = shards.map((shard) => shard.split(' to ').map(Number) as [number, number])
      expect([parts[0]![0], parts.at(-1)![1]]).toEqual([from, to])
      for (const [index, [begin]] of parts.entries()) if (index > 0) expect(begin).toBe(parts[index - 1]![1] + 1)
    }
    return rows.map(({ from, to }) => [from, to])
  }

  test('is reserved once, for whoever loads it', async () => {
    expect(await reserveHistory(database.pool, base)).toEqual([{ fromBlock: first, toBlock: last }])
    expect(await reserveHistory(database.pool, base)).toEqual([])
    expect(await reservations()).toEqual([[first, last]])
  })

  test('gives parts of it to backfills that come, and keeps the others', async () => {
    const part = { fromBlock: 31_000_000, toBlock: 31_999_999 }
    expect(await reserveRange(database.pool, base, part, 2)).toMatchObject({ ...part, isNew: true })
    const beyond = { fromBlock: last - 99, toBlock: last + 500 }
    expect(await reserveRange(database.pool, base, beyond, 1)).toMatchObject(beyond)
    const kept = [
      [first, part.fromBlock - 1],
      [part.fromBlock, part.toBlock],
      [part.toBlock + 1, last - 100],
      [last - 99, last + 500],
    ]
    expect(await reservations()).toEqual(kept)
    // The same blocks again are the same backfill, cut for as many workers as there are now.
    expect(await reserveRange(database.pool, base, part, 4)).toMatchObject({ ...part, isNew: false })
    expect(await reservations()).toEqual(kept)
  })

  test('keeps what somebody loads or has loaded in part', async () => {
    const running = await database.pool.connect()
    const { rows } = await running.query<{ id: number }>('select id from backfill where from_block = 31000000')
    const { id } = rows[0]!
    await running.query('select pg_advisory_lock($1, $2)', [lockClasses.backfillCommand, id])
    const overlapping = { fromBlock: 31_500_000, toBlock: 32_500_000 }
    const refusal = /overlap the backfill of 31000000 to 31999999, which is being loaded/
    await expect(reserveRange(database.pool, base, overlapping, 1)).rejects.toThrow(refusal)
    await running.query('select pg_advisory_unlock($1, $2)', [lockClasses.backfillCommand, id])
    running.release()
    await database.pool.query(
      'update backfill_shard set next_block = first_block + 1 where backfill_id = $1 and first_block = 31000000',
      [id],
    )
    await expect(reserveRange(database.pool, base, overlapping, 1)).rejects.toThrow(refusal)
  })

  test('is given in parts when the processor has passed it, as the job on Kubernetes loads it', async () => {
    const passed = await run.database()
    const parts = [
      [first - 1_000, first + 999_999],
      [31_000_000, 31_999_999],
      [last - 99, last + 500],
    ].map(([fromBlock, toBlock]) => ({ fromBlock, toBlock })) as { fromBlock: number; toBlock: number }[]
    const reserve = (part: (typeof parts)[number]) => reserveRange(passed.pool, base, part, 1)
    expect(await reserveHistory(passed.pool, base)).toEqual([{ fromBlock: first, toBlock: last }])
    await writeChainState(passed.pool, {
      chain: 'base',
      chainId: base.id,
      indexedBlock: last + 1_000,
      indexedAt: new Date(),
      headBlock: last + 1_000,
      finalizedBlock: last + 1_000,
    })
    for (const isNew of [true, false]) {
      expect(await Promise.all(parts.map(reserve))).toEqual([
        expect.objectContaining({ fromBlock: first, toBlock: first + 999_999, isNew }),
        expect.objectContaining({ ...parts[1], isNew }),
        expect.objectContaining({ fromBlock: last - 99, toBlock: last, isNew }),
      ])
    }
    expect(await reserve({ fromBlock: last + 1, toBlock: last + 1_000 })).toBeUndefined()
    const { rows } = await passed.pool.query('select from_block as from, to_block as to from backfill order by 1')
    expect(
      gapsBetween(
        first,
        rows.map(({ from, to }) => ({ fromBlock: from, toBlock: to })),
      ),
    ).toEqual([{ from: last + 1 }])
  })

  test('is left out by a processor that begins, which starts at the registry; a backfill loads it meanwhile', async () => {
    // Three hundred blocks with settlements before the registry, at the end of a long history.
    const late = paymentChain({ firstBlock: 60_000, chunkBlocks: 20, chunks: 30 })
    const portal = await startPortal({ datasets: { 'base-mainnet': late.source }, chunksPerAnswer: 5 })
    onTestFinished(portal.stop)
    const settings = {
      rpc: null,
      portal: portal.url,
      registry: { address: base.registry.address, fromBlock: 60_300 },
      reputation: { address: base.reputation.address, fromBlock: 60_300 },
      tokens: [{ address: late.token, fromBlock: 1_000, decimals: 6 }],
    }
    const indexed = async (chainSettings: object, target: TestDatabase) => {
      const processor = await spawnProcessor({ chain: 'base', databaseUrl: target.url, chainSettings })
      await processor.untilIndexed(late.lastBlock)
      await processor.stop()
      return processor
    }
    const settlements = async ({ pool }: TestDatabase) =>
      (
        await pool.query<{ count: number; first: number }>(
          'select count(*)::int, min(block_number) as first from settlement',
        )
      ).rows[0]!

    const clean = await run.database()
    await indexed({ base: { ...settings, tokens: [{ ...settings.tokens[0], fromBlock: 60_000 }] } }, clean)
    const target = await run.database()
    const { output } = await indexed({ base: settings }, target)
    expect(output()).toContain('npm run backfill -- --chain base --from 1000 --to 60299')
    expect((await settlements(target)).first).toBeGreaterThanOrEqual(60_300)
    expect((await settlements(target)).count).toBeLessThan((await settlements(clean)).count)

    const load = async ({ url }: TestDatabase, from: number, to: number) => {
      const args = ['--chain', 'base', '--from', String(from), '--to', String(to), '--workers', '1']
      const loaded = await runBackfill({ databaseUrl: url, chainSettings: { base: settings }, args })
      expect({ code: loaded.code, stderr: loaded.stderr }).toEqual({ code: 0, stderr: '' })
    }
    await load(target, 0, 60_149)
    await load(target, 60_150, 60_500)
    expect(await settlements(target)).toEqual(await settlements(clean))

    // A part of the job that is there before the processor reserves the others first.
    const early = await run.database()
    await load(early, 60_150, 60_500)
    expect(await reservations(early)).toEqual([
      [1_000, 60_149],
      [60_150, 60_500],
    ])
    await indexed({ base: settings }, early)
    await load(early, 0, 60_149)
    expect(await settlements(early)).toEqual(await settlements(clean))
  })
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
