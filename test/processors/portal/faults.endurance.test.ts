import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Faults, withForeignParent } from '../../doubles/portal/faults.ts'
import type { PortalRequest } from '../../doubles/portal/server.ts'
import { type ChainTables, describeDifference } from '../../support/chain/oracle.ts'
import { lastBlock, type PortalRun, runThroughPortal } from './run.ts'

/** Rows of a processor whose Portal has no faults. */
let clean: ChainTables
let run: PortalRun
/** A run whose Portal falls silent. It waits for half a minute, so it starts first and is checked last. */
let silent: PortalRun
/** A run that gets answers whose body never comes; each costs it half a minute. */
let stalled: PortalRun

beforeAll(async () => {
  silent = await runThroughPortal({ faults: (faults) => faults.add({ kind: 'silence', lines: 3 }, { skip: 2 }) })
  stalled = await runThroughPortal({
    faults(faults) {
      faults.add({ kind: 'status', status: 200, stalls: true }, { route: 'head' })
      faults.add({ kind: 'status', status: 503, stalls: true })
    },
  })
  run = await runThroughPortal()
  await run.processor.untilIndexed(lastBlock)
  clean = await run.tables()
  expect(clean.settlement).toHaveLength(600)
  await run.end()
})
afterEach(() => run.end())
afterAll(async () => {
  await silent?.end()
  await stalled?.end()
})

describe('a Portal in trouble gives the same rows in the end', () => {
  test.each<[string, (faults: Faults) => void]>([
    [
      'overload, with and without Retry-After',
      (faults) => {
        faults.add({ kind: 'status', status: 429, retryAfterSeconds: 2 })
        faults.add({ kind: 'status', status: 529, retryAfterSeconds: 1 }, { skip: 3 })
        faults.add({ kind: 'status', status: 529 }, { skip: 5 })
      },
    ],
    [
      'failing workers and gateways',
      (faults) => {
        for (const [skip, status] of [500, 502, 503, 504].entries()) {
          faults.add({ kind: 'status', status }, { skip: 2 * skip })
        }
        faults.add({ kind: 'status', status: 503 }, { route: 'head', times: 2 })
      },
    ],
    [
      'streams cut in the middle of a line',
      (faults) => {
        for (const [skip, how] of (['end', 'truncate', 'abort', 'reset'] as const).entries()) {
          faults.add({ kind: 'cut', lines: 7, how }, { skip: 2 * skip })
        }
        faults.add({ kind: 'cut', lines: 0, how: 'end' }, { skip: 9 })
      },
    ],
    [
      'lines that are no blocks',
      (faults) => {
        faults.add({ kind: 'line', line: 0, replace: () => '<html>bad gateway</html>' })
        faults.add({ kind: 'line', line: 7, replace: () => '{"header":{}}' }, { skip: 1 })
        faults.add({ kind: 'line', line: 7, replace: () => '' }, { skip: 3 })
      },
    ],
    ['an empty answer below the head', (faults) => faults.add({ kind: 'noContent' }, { skip: 2 })],
    ['a refused parent that is ours all the same', (faults) => faults.add({ kind: 'fork' }, { skip: 2 })],
  ])('%s', async (_, faults) => {
    run = await runThroughPortal({ faults })
    await run.processor.untilIndexed(lastBlock)
    expect(describeDifference(await run.tables(), clean)).toBe('')
    expect(run.portal.faults.pending).toBe(0)
  })

  test('it is not asked again before the time it named', async () => {
    run = await runThroughPortal({
      faults: (faults) => faults.add({ kind: 'status', status: 529, retryAfterSeconds: 2 }, { skip: 1, times: 2 }),
    })
    await run.processor.untilIndexed(lastBlock)
    const asked = streamRequests(run)
    for (const [place, { status, at }] of asked.entries()) {
      if (status === 529) expect(asked[place + 1]!.at - at).toBeGreaterThanOrEqual(1_990)
    }
    expect(asked.filter(({ status }) => status === 529)).toHaveLength(2)
    expect(run.processor.output()).toMatch(/529/)
  })
})

describe('a Portal that sends what cannot be the chain stops the processor with one line', () => {
  test.each<[string, (faults: Faults) => void, RegExp]>([
    [
      'a parent hash that does not fit the block before',
      (faults) => faults.add({ kind: 'line', line: 4, replace: withForeignParent }, { skip: 1 }),
      /block 1054.*parent/,
    ],
    [
      'a parent hash that does not fit the last block of the answer before',
      (faults) => faults.add({ kind: 'line', line: 0, replace: withForeignParent }, { skip: 1 }),
      /block 1050.*parent/,
    ],
    ['blocks in the wrong order', (faults) => faults.add({ kind: 'swap', line: 3 }, { skip: 1 }), /block 105[34]/],
    [
      'an answer that leaves out the first block asked for',
      (faults) => faults.add({ kind: 'line', line: 0, replace: () => undefined }, { skip: 1 }),
      /block 105[01]/,
    ],
    [
      'a block whose logs are not what logs are',
      (faults) => faults.add({ kind: 'line', line: 3, replace: withBrokenLog }, { skip: 1 }),
      /"blockHeight":1053.*invalid value at \/logs\/0\/topics/,
    ],
    [
      'a block that it was not asked for',
      (faults) => faults.add({ kind: 'line', line: 0, replace: withNumber(1_020) }, { skip: 1 }),
      /block 1020/,
    ],
  ])('%s', async (_, faults, reason) => {
    run = await runThroughPortal({ faults })
    expect(await run.processor.untilExit()).toBe(1)
    const [line, ...more] = run.processor
      .output()
      .split('\n')
      .filter((text) => /"level":(50|60)|^[^{]/.test(text) && text !== '')
    expect(line).toMatch(reason)
    expect(more).toEqual([])

    const stored = await run.tables()
    expect(describeDifference(stored, prefixOf(clean, stored))).toBe('')

    const processor = await run.restart()
    await processor.untilIndexed(lastBlock)
    expect(describeDifference(await run.tables(), clean)).toBe('')
  })

  test('a chain that is not the one indexed so far is told from a passing fork', async () => {
    const foreign = [{ number: 1_049, hash: `0x${'ba'.repeat(32)}` }]
    run = await runThroughPortal({
      faults: (faults) => faults.add({ kind: 'fork', previousBlocks: foreign }, { skip: 1, times: 100 }),
    })
    expect(await run.processor.untilExit()).toBe(1)
    expect(run.processor.output()).toMatch(/npm run reset -- --chain base/)
  })

  test('a query the Portal refuses is shown with the reason it gave', async () => {
    run = await runThroughPortal({
      faults: (faults) => faults.add({ kind: 'status', status: 400 }, { times: 100 }),
    })
    expect(await run.processor.untilExit()).toBe(1)
    expect(run.processor.output()).toMatch(/400.*on command/)
  })
})

test('a connection that falls silent is given up and its blocks are asked for again', async () => {
  await silent.processor.untilIndexed(lastBlock)
  expect(describeDifference(await silent.tables(), clean)).toBe('')
  expect(silent.portal.faults.pending).toBe(0)
})

test('an answer whose body stalls behind its headers is given up and asked for again', async () => {
  await stalled.processor.untilIndexed(lastBlock, 100_000)
  expect(describeDifference(await stalled.tables(), clean)).toBe('')
  expect(stalled.portal.faults.pending).toBe(0)
})

function streamRequests({ portal }: PortalRun): PortalRequest[] {
  return portal.requests.filter(({ path }) => path.endsWith('-stream'))
}

function withBrokenLog(text: string) {
  const line = JSON.parse(text)
  line.logs[0].topics = 'none'
  return JSON.stringify(line)
}

function withNumber(number: number) {
  return (text: string) => {
    const line = JSON.parse(text)
    return JSON.stringify({ ...line, header: { ...line.header, number } })
  }
}

/** Clean rows up to the last block with a stored settlement. */
function prefixOf(clean: ChainTables, stored: ChainTables): ChainTables {
  const reached = stored.settlement.map((row) => JSON.parse(row).block_number).at(-1) ?? 0
  const settlement = clean.settlement.filter((row) => JSON.parse(row).block_number <= reached)
  return { ...clean, settlement, chain_state: stored.chain_state }
}
