import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { readChainTables } from '../../support/chain/oracle.ts'
import { untilNoticed, verifiedScope, verify } from '../../support/chain/scope.ts'
import type { TestDatabase } from '../../support/database.ts'
import { type Ended, runMain } from '../../support/mains.ts'
import { descendantsOf, stillRunning } from '../../support/processes.ts'
import { until } from '../../support/until.ts'
import { all, chain, estimateRequests, type LoadRun, startLoadRun } from './load-run.ts'

let run: LoadRun
beforeAll(async () => {
  run = await startLoadRun()
})
afterAll(() => run?.end())

const range = (from: number, to: number) => ['--chain', 'base', '--from', from, '--to', to]
const reset = (database: TestDatabase, ...args: string[]): Promise<Ended> =>
  runMain('processors/reset/main.ts', ['--chain', 'base', ...args], { env: run.environment(database) })

/** Leaves a backfill of which one shard is loaded and the other is not. */
async function loadHalf(database: TestDatabase, blocks: readonly (string | number)[]) {
  run.portal.faults.add({ kind: 'silence', lines: 10 }, { skip: estimateRequests })
  const { child, ended } = await run.start(database, [...blocks, '--workers', 2])
  await until('one of its shards is loaded', async () => {
    const { rows } = await database.pool.query('select from backfill_shard where next_block > last_block')
    return rows.length > 0
  })
  const family = descendantsOf(child.pid as number)
  child.kill('SIGKILL')
  await ended
  await until('its workers have ended with it', () => stillRunning(family).length === 0)
}

async function leftovers({ pool }: TestDatabase) {
  const { rows } = await pool.query(
    `select (select count(*)::int from backfill) as reservations, (select count(*)::int from backfill_shard) as shards,
            (select count(*)::int from backfill_partition) as partitions,
            (select count(*)::int from pg_class where relname ~ '_load$') as staging,
            (select count(*)::int from settlement) as settlements`,
  )
  return rows[0]
}
const nothing = { reservations: 0, shards: 0, partitions: 0, staging: 0, settlements: 0 }

test('a backfill that was abandoned half way leaves nothing, and another one loads its blocks', async () => {
  const database = await run.database()
  await loadHalf(database, all)
  expect(await leftovers(database)).toMatchObject({ reservations: 1, shards: 2, partitions: 1, staging: 1 })
  const wrong = await run.load(database, [...range(1_000, 1_300), '--abandon'])
  expect(wrong).toMatchObject({
    code: 1,
    stderr: 'there is no backfill of exactly these blocks of base; there is 1000 to 1599\n',
  })
  const { code, stdout, stderr } = await run.load(database, [...all, '--abandon'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^base: blocks 1000 to 1599 are free again, [1-9]\d* settlements deleted; /)
  expect(await leftovers(database)).toEqual(nothing)
  expect((await run.load(database, [...range(1_000, 1_449), '--workers', 1])).code).toBe(0)
  expect((await run.load(database, [...range(1_450, 1_599), '--workers', 1])).code).toBe(0)
  expect(await run.difference(database)).toBe('')
})

test('blocks of a complete backfill are the processor’s once it is abandoned', async () => {
  const database = await run.database()
  expect((await run.load(database, [...range(1_200, 1_399), '--workers', 1])).code).toBe(0)
  const { code, stdout } = await run.load(database, [...range(1_200, 1_399), '--abandon'])
  expect(stdout).not.toMatch(/ 0 settlements/)
  expect(code).toBe(0)
  expect(await leftovers(database)).toEqual(nothing)
  const processor = await run.processor(database)
  await processor.untilIndexed(chain.lastBlock)
  await processor.stop()
  expect(await run.difference(database)).toBe('')
})

test('a backfill that is running is not abandoned', async () => {
  const database = await run.database()
  run.portal.faults.add({ kind: 'silence', lines: 10 }, { skip: estimateRequests })
  const { child, ended } = await run.start(database, [...all, '--workers', 1])
  await until('its worker waits for the Portal', () => run.portal.faults.pending === 0)
  const { code, stderr } = await run.load(database, [...all, '--abandon'])
  expect(stderr).toBe('the backfill of blocks 1000 to 1599 of base is running; stop it first\n')
  expect(code).toBe(1)
  child.kill('SIGTERM')
  await ended
  expect((await run.load(database)).code).toBe(0)
  expect(await run.difference(database)).toBe('')
})

describe('a backfill that the chain’s processor has passed', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await run.database()
    await loadHalf(database, range(1_300, 1_599))
    const processor = await run.processor(database)
    await processor.untilIndexed(chain.lastBlock)
    const { stderr } = await run.load(database, [...range(1_300, 1_599), '--abandon'])
    expect(stderr).toBe('another processor of base is running on this database; stop it first\n')
    await processor.stop()
  })

  test('is not abandoned, and the line says what gives its blocks to the processor', async () => {
    const { code, stderr } = await run.load(database, [...range(1_300, 1_599), '--abandon'])
    expect(stderr).toBe(
      'the processor of base is at block 1599 and has left the settlements of blocks 1300 to 1599 to this backfill; ' +
        'finish it with the same command without --abandon, or make it go back for them with: ' +
        'npm run reset -- --chain base --to 1299\n',
    )
    expect(code).toBe(1)
  })

  test('keeps the chain from going back into it', async () => {
    const { code, stderr } = await reset(database, '--to', '1400')
    expect(stderr).toBe(
      'a backfill of base has not loaded all of blocks 1300 to 1599; run it again with --from 1300 --to 1599, ' +
        'or reset the chain with --to 1299 or --all\n',
    )
    expect(code).toBe(1)
  })

  test('goes with the blocks above it, and the processor loads them', async () => {
    const { code, stderr } = await reset(database, '--to', '1299')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(await leftovers(database)).toMatchObject({ reservations: 0, shards: 0, partitions: 0, staging: 0 })
    const processor = await run.processor(database)
    await processor.untilIndexed(chain.lastBlock)
    await processor.stop()
    expect(await run.difference(database)).toBe('')
  })
})

test('a chain that goes back into a complete backfill keeps its rows below', async () => {
  const database = await run.database()
  expect((await run.load(database, [...range(1_100, 1_499), '--workers', 1])).code).toBe(0)
  const before = await run.processor(database)
  await before.untilIndexed(chain.lastBlock)
  await before.stop()
  const { code, stderr } = await reset(database, '--to', '1250')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const { rows } = await database.pool.query('select max(block_number)::int as last from settlement')
  expect(rows).toEqual([{ last: 1250 }])
  const reserved = await database.pool.query('select from_block, to_block from backfill')
  expect(reserved.rows).toEqual([{ from_block: 1100, to_block: 1250 }])
  expect(await run.load(database, [...range(1_100, 1_250), '--verify'])).toMatchObject({ code: 0, stderr: '' })
  const after = await run.processor(database)
  await after.untilIndexed(chain.lastBlock)
  await after.stop()
  expect(await run.difference(database)).toBe('')
})

test('a backfill that known recipients rely on is not abandoned', async () => {
  const database = await run.database()
  expect((await run.load(database, [...range(1_200, 1_399), '--workers', 1])).code).toBe(0)
  await database.pool.query(`insert into settlement_scope (chain, complete_to, own_from) values ('base', -1, 1600)`)
  const { code, stderr } = await run.load(database, [...range(1_200, 1_399), '--abandon'])
  expect(stderr).toBe(
    'with SETTLEMENT_SCOPE=verified base is read up to block 1599, and blocks 1200 to 1399 were left to this backfill; ' +
      'read everything again with: npm run reset -- --chain base --all\n',
  )
  expect(code).toBe(1)
  expect((await reset(database, '--all')).code).toBe(0)
  expect((await database.pool.query('select from settlement_scope')).rows).toEqual([])
})

test('a complete backfill of a chain that keeps known recipients by now is given back by going below it', async () => {
  const database = await run.database()
  expect((await run.load(database, [...range(1_200, 1_399), '--workers', 1])).code).toBe(0)
  const before = await run.processor(database)
  await before.untilIndexed(chain.lastBlock)
  await before.stop()
  const rows = run.expected.settlement.map((row) => JSON.parse(row))
  const known: string = rows.find(({ block_number }) => block_number >= 1_300).recipient
  await verify(database.pool, 1, `0x${known.slice(2)}`)
  const switched = await run.processor(database, verifiedScope)
  await untilNoticed(database.pool, 'base', `0x${known.slice(2)}`, true)
  await switched.stop()

  const { code, stderr } = await run.load(database, [...range(1_200, 1_399), '--abandon'])
  const command = 'npm run reset -- --chain base --to 1199'
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(command) })
  expect((await reset(database, '--to', '1199')).code).toBe(0)
  const after = await run.processor(database, verifiedScope)
  onTestFinished(() => after.stop())
  await after.untilIndexed(chain.lastBlock)
  // All settlements up to the target block, and above it those of the known recipient.
  const kept = run.expected.settlement.filter((row) => {
    const { block_number, recipient } = JSON.parse(row)
    return block_number < 1_200 || recipient === known
  })
  await until('the settlements are those that are kept', async () => {
    const { settlement } = await readChainTables(database.pool, 'base')
    return settlement.join('\n') === kept.join('\n')
  })
})

test('a chain that is emptied leaves nothing of a backfill that was stopped half way', async () => {
  const database = await run.database()
  await loadHalf(database, all)
  const { code, stderr } = await reset(database, '--all')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(await leftovers(database)).toEqual(nothing)
  expect((await run.load(database)).code).toBe(0)
  expect(await run.difference(database)).toBe('')
})
