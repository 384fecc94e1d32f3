import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../../ops/ports.ts'
import { AllDisplay } from '../../../processors/backfill/all/display.ts'
import { withForeignParent } from '../../doubles/portal/faults.ts'
import { runBackfill, startBackfill } from '../../support/chain/backfill.ts'
import type { TestDatabase } from '../../support/database.ts'
import { descendantsOf, stillRunning } from '../../support/processes.ts'
import { until } from '../../support/until.ts'
import { chain, estimateRequests, type LoadRun, startLoadRun } from './load-run.ts'

let run: LoadRun
beforeAll(async () => {
  run = await startLoadRun()
})
afterAll(() => run?.end())

/** Settings by which the processor begins at the chain's last block, while its tokens exist from the first. */
const late = { registry: begins('0x8004a1'), reputation: begins('0x8004ba') }
function begins(start: string) {
  return { address: start.padEnd(42, '0'), fromBlock: chain.lastBlock }
}

/** Options of a backfill where no chain but Base has tokens, hence a history to load. */
function everyChain(database: TestDatabase, args: readonly string[], more: object = {}) {
  const { chainSettings, ...rest } = run.options(database, args, { ...late, ...more })
  const others = ['ethereum', 'celo', 'arbitrum', 'optimism', 'polygon', 'gnosis'].map((name) => [name, { tokens: [] }])
  return { ...rest, chainSettings: { ...chainSettings, ...Object.fromEntries(others) } }
}

const startedWith = (database: TestDatabase, args: readonly string[]) => runBackfill(everyChain(database, args))

/** Last block of the history: the processor begins after it. */
const wholeEnd = chain.lastBlock - 1

test('what would be read is said, and nothing is written', async () => {
  const database = await run.database()
  const { code, stdout, stderr } = await startedWith(database, ['--all', '--plan', '--workers', '2'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(
    new RegExp(
      `^base ${chain.firstBlock} to ${wholeEnd}, ${wholeEnd - chain.firstBlock + 1} blocks from portal: about [\\d,]+ ` +
        'settlements, \\d+ MB of disk, at least 0:\\d\\d with 2 processes\n$',
    ),
  )
  const one = await startedWith(database, ['--chain', 'base', '--plan', '--workers', '2'])
  expect(one.stdout).toBe(stdout)
  const { rows } = await database.pool.query(
    'select (select count(*) from backfill)::int + (select count(*) from settlement)::int as rows',
  )
  expect(rows).toEqual([{ rows: 0 }])
})

test('a plan of chains whose sources do not answer is not made, and fails', async () => {
  const database = await run.database()
  const nobody = `http://127.0.0.1:${await freePort()}`
  const { code, stdout, stderr } = await runBackfill(everyChain(database, ['--all', '--plan'], { portal: nobody }))
  expect(stdout).toMatch(/^base: .+\n$/)
  expect({ code, stderr }).toEqual({ code: 1, stderr: 'no plan: 1 of 1 chains did not answer\n' })
})

test('one command loads the history of every chain, goes on where it stood, and ends when nothing is missing', async () => {
  const database = await run.database()
  // A part is loaded already, by a command that was killed before it marked the backfill as completed.
  const middle = chain.firstBlock + 200
  const part = ['--chain', 'base', '--from', String(chain.firstBlock + 100), '--to', String(middle), '--workers', '1']
  expect((await startedWith(database, part)).code).toBe(0)
  await database.pool.query('update backfill set completed_at = null')
  const again = await startedWith(database, ['--all', '--workers', '2'])
  expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: '' })
  const { rows } = await database.pool.query(
    'select from_block, to_block, completed_at is not null as whole from backfill order by from_block',
  )
  expect(rows).toEqual([
    { from_block: chain.firstBlock, to_block: chain.firstBlock + 99, whole: true },
    { from_block: chain.firstBlock + 100, to_block: middle, whole: true },
    { from_block: middle + 1, to_block: wholeEnd, whole: true },
  ])
  const stored = await database.pool.query('select count(*)::int as settlements from settlement')
  const expected = run.expected.settlement.filter((row) => JSON.parse(row).block_number <= wholeEnd)
  expect(stored.rows).toEqual([{ settlements: expected.length }])
  const done = await startedWith(database, ['--all'])
  expect(done).toMatchObject({ code: 0, stdout: 'nothing is missing\n' })
})

test('killed while it loads, it continues with whatever is missing', async () => {
  const database = await run.database()
  run.portal.faults.add({ kind: 'silence', lines: 10 }, { skip: estimateRequests, times: 2 })
  const { child, ended } = await startBackfill(everyChain(database, ['--all', '--workers', '2']))
  await until('both workers wait for the Portal', () => run.portal.faults.pending === 0)
  const family = descendantsOf(child.pid as number)
  child.kill('SIGKILL')
  await ended
  await until('its workers have ended with it', () => stillRunning(family).length === 0)
  const reservations = async () => {
    const text = 'select from_block, to_block, completed_at is not null as whole from backfill order by from_block'
    return (await database.pool.query(text)).rows
  }
  const whole = { from_block: chain.firstBlock, to_block: wholeEnd }
  expect(await reservations()).toEqual([{ ...whole, whole: false }])
  const again = await startedWith(database, ['--all', '--workers', '2'])
  expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: '' })
  expect(await reservations()).toEqual([{ ...whole, whole: true }])
  const stored = await database.pool.query('select count(*)::int as settlements from settlement')
  const expected = run.expected.settlement.filter((row) => JSON.parse(row).block_number <= wholeEnd)
  expect(stored.rows).toEqual([{ settlements: expected.length }])
})

test('a range that fails while its other shards wait leaves no worker to the next range, which is loaded whole', async () => {
  const database = await run.database()
  const middle = chain.firstBlock + 200
  const part = ['--chain', 'base', '--from', String(chain.firstBlock + 100), '--to', String(middle), '--workers', '1']
  expect((await startedWith(database, part)).code).toBe(0)
  // Both ranges that are left are estimated first. Then two shards of the shorter one fall silent, and the third fails.
  const estimates = 2 * estimateRequests
  run.portal.faults.add({ kind: 'silence', lines: 10 }, { skip: estimates, times: 2 })
  run.portal.faults.add({ kind: 'line', line: 20, replace: withForeignParent }, { skip: estimates + 2 })
  const { code, stderr } = await startedWith(database, ['--all', '--workers', '3'])
  expect(run.portal.faults.pending).toBe(0)
  expect(stderr).toMatch(new RegExp(`^base ${chain.firstBlock} to ${chain.firstBlock + 99}: .*with parent 0xdede`))
  expect(code).toBe(1)
  const ranges = async () => {
    const { rows } = await database.pool.query(
      `select from_block as first, completed_at is not null as whole,
              (select bool_and(next_block > last_block) from backfill_shard where backfill_id = id) as loaded
         from backfill order by from_block`,
    )
    return rows
  }
  const failed = chain.firstBlock
  const others = [chain.firstBlock + 100, middle + 1]
  const loaded = others.map((first) => ({ first, whole: true, loaded: true }))
  expect(await ranges()).toEqual([{ first: failed, whole: false, loaded: false }, ...loaded])
  const again = await startedWith(database, ['--all', '--workers', '3'])
  expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: '' })
  expect(await ranges()).toEqual([{ first: failed, whole: true, loaded: true }, ...loaded])
  const stored = await database.pool.query('select count(*)::int as settlements from settlement')
  const expected = run.expected.settlement.filter((row) => JSON.parse(row).block_number <= wholeEnd)
  expect(stored.rows).toEqual([{ settlements: expected.length }])
})

test('a range whose source fails in the middle keeps no other waiting, and is loaded after them', async () => {
  const database = await run.database()
  const middle = chain.firstBlock + 200
  const part = ['--chain', 'base', '--from', String(chain.firstBlock + 100), '--to', String(middle), '--workers', '1']
  expect((await startedWith(database, part)).code).toBe(0)
  // Both ranges that are left are estimated first. The shorter one is begun, then every answer is an outage.
  const { faults } = run.portal
  const estimates = 2 * estimateRequests
  faults.add({ kind: 'cut', lines: 20, how: 'abort' }, { skip: estimates })
  // Five failures in a row end an attempt, and a worker makes three.
  faults.add({ kind: 'status', status: 503 }, { skip: estimates + 1, times: 15 })
  const { code, stdout, stderr } = await startedWith(database, ['--all', '--workers', '1'])
  expect(faults.pending).toBe(0)
  expect(stderr).toMatch(/^base 1000 to 1099: .*503.*gave up after 5 attempts; it is tried again after the others$/m)
  expect(code).toBe(0)
  const begun = [...stdout.matchAll(/(?:loading|continuing with) the settlements of blocks (\d+)/g)].map(
    ([, from]) => from,
  )
  expect(begun).toEqual(['1000', String(middle + 1), '1000'])
  const { rows } = await database.pool.query('select count(*)::int as settlements from settlement')
  const expected = run.expected.settlement.filter((row) => JSON.parse(row).block_number <= wholeEnd)
  expect(rows).toEqual([{ settlements: expected.length }])
})

test('ranges whose source stays out of reach are named once each, and the command fails', async () => {
  const database = await run.database()
  const middle = chain.firstBlock + 200
  const part = ['--chain', 'base', '--from', String(chain.firstBlock + 100), '--to', String(middle), '--workers', '1']
  expect((await startedWith(database, part)).code).toBe(0)
  const { faults } = run.portal
  faults.add({ kind: 'status', status: 503, retryAfterSeconds: 0 }, { skip: 2 * estimateRequests, times: Infinity })
  const { code, stderr } = await startedWith(database, ['--all', '--workers', '1'])
  faults.clear()
  expect(code).toBe(1)
  const ranges = [`base ${chain.firstBlock} to ${chain.firstBlock + 99}`, `base ${middle + 1} to ${wholeEnd}`]
  const lines = stderr.trimEnd().split('\n')
  for (const range of ranges) {
    expect(lines.filter((line) => line.startsWith(range))).toEqual([
      expect.stringMatching(/503.*gave up after 5 attempts; it is tried again after the others$/),
      expect.stringMatching(/503.*gave up after 12 attempts$/),
    ])
  }
  expect(lines.at(-1)).toMatch(/^not everything is loaded; run the same command again to continue: base 1000 .*; base /)
  const again = await startedWith(database, ['--all', '--workers', '1'])
  expect({ code: again.code, stderr: again.stderr }).toEqual({ code: 0, stderr: '' })
})

test('where the processors load what verified addresses were paid, there is nothing to do', async () => {
  const database = await run.database()
  const env = { SETTLEMENT_SCOPE: 'verified' }
  const { code, stdout, stderr } = await runBackfill({ ...everyChain(database, ['--all']), env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^base: with SETTLEMENT_SCOPE=verified there is nothing to backfill: [^\n]*\n$/)
})

test('arguments of one chain are refused, in one line', async () => {
  const database = await run.database()
  const { code, stderr } = await startedWith(database, ['--all', '--chain', 'base'])
  expect({ code, stderr }).toEqual({ code: 2, stderr: '--chain is for one chain and cannot be combined with --all\n' })
})

test('one line tells how far all of it is, and how long the rest will take', () => {
  const written: string[] = []
  let now = Date.now()
  const out = { isTTY: true, write: (text: string) => Boolean(written.push(text)) }
  const display = new AllDisplay(
    [
      { name: 'gnosis', work: 100 },
      { name: 'base', work: 300 },
    ],
    out as never,
    () => now,
  )
  const shard = {
    firstBlock: 0,
    lastBlock: 99,
    nextBlock: 0,
    settlements: 0,
    added: 0,
    blocks: 0,
    startedAt: undefined,
  }
  display.opener(0)([shard]).stop()
  const shown = display.opener(1)([Object.assign(shard, { nextBlock: 50, settlements: 7 })])
  now += 10_000
  shown.stop()
  expect(written.join('')).toContain('in all 62.5 %')
  expect(written.join('')).toContain('base (2 of 2) 50.0 %, 7 settlements')
  expect(written.join('')).toMatch(/, 0:0\d left/)
})
