import { Registry } from 'prom-client'
import { expect, onTestFinished, test } from 'vitest'
import { readChains } from '../../config/chains.file.ts'
import { portOf, serveHealth } from '../../ops/health.ts'
import { createHealth } from '../../processors/health.ts'
import { Progress } from '../../processors/progress.ts'

const minutesAgo = (minutes: number) => Date.now() - minutes * 60_000
const { base } = readChains({ env: {} })

function problemOf(change: Partial<Progress>): string | undefined | Promise<string | undefined> {
  const progress = Object.assign(new Progress(), change)
  return createHealth(base, progress, new Registry()).notReady()
}

test.each<[string, Partial<Progress>, RegExp | undefined]>([
  ['has indexed nothing', {}, /^no block indexed yet$/],
  ['is at the head, where nothing happens', { indexedBlock: 9, headBlock: 9, committedAt: minutesAgo(60) }, undefined],
  ['is behind and goes on', { indexedBlock: 9, headBlock: 900, committedAt: minutesAgo(1) }, undefined],
  [
    'is behind and does not go on',
    { indexedBlock: 9, headBlock: 900, committedAt: minutesAgo(3) },
    /^at block 9 of 900 for 18\d seconds$/,
  ],
  [
    'hears nothing from its source',
    { indexedBlock: 9, headBlock: 9, committedAt: minutesAgo(60), headSeenAt: minutesAgo(5) },
    /^no block and no news of the head for 30\d seconds$/,
  ],
])('a processor that %s', async (_, change, expected) => {
  const problem = await problemOf(change)
  if (expected) expect(problem).toMatch(expected)
  else expect(problem).toBeUndefined()
})

test('a processor that waits for a source says for which, and why', async () => {
  const progress = Object.assign(new Progress(), { indexedBlock: 9, headBlock: 900, committedAt: minutesAgo(3) })
  const end = progress.sources.node.begin('the node does not answer eth_getBlockByNumber: nothing that is an answer')
  const { notReady } = createHealth(base, progress, new Registry())
  expect(await notReady()).toMatch(
    /^at block 9 of 900 for 18\d seconds: the node does not answer eth_getBlockByNumber: /,
  )
  end()
  expect(await notReady()).toMatch(/^at block 9 of 900 for 18\d seconds$/)
})

test.each<[string, Partial<Progress>, RegExp | undefined]>([
  ['has just begun', {}, undefined],
  ['is at the head, where nothing happens', { indexedBlock: 9, headBlock: 9, committedAt: minutesAgo(60) }, undefined],
  ['is behind for a while', { indexedBlock: 9, headBlock: 900, committedAt: minutesAgo(9) }, undefined],
  [
    'is behind for long',
    { indexedBlock: 9, headBlock: 900, committedAt: minutesAgo(11) },
    /^at block 9 of 900 for 66\d seconds$/,
  ],
  [
    'has never heard of a head',
    { committedAt: minutesAgo(11), headSeenAt: minutesAgo(11) },
    /^no block and no news of the head for 66\d seconds$/,
  ],
])('a processor that %s: whether it lives', async (_, change, expected) => {
  const health = createHealth(base, Object.assign(new Progress(), change), new Registry())
  const server = await serveHealth('127.0.0.1', 0, health)
  onTestFinished(() => void server.close())
  const answer = await fetch(`http://127.0.0.1:${portOf(server)}/healthz`)
  expect(answer.status).toBe(expected ? 503 : 200)
  expect((await answer.text()).trim()).toMatch(expected ?? /^ok$/)
})

test('a processor whose chain was idle for an hour lives and is ready when the next block comes', () => {
  const progress = Object.assign(new Progress(), { indexedBlock: 9, headBlock: 9, committedAt: minutesAgo(60) })
  progress.seeHead(10)
  const health = createHealth(base, progress, new Registry())
  expect([health.stuck?.(), health.notReady()]).toEqual([undefined, undefined])
})

test('a processor whose history of recipients hangs does not live, as long as there is some to load', () => {
  const lives = (recipients: number, turnedAt: number) =>
    createHealth(base, new Progress(), new Registry(), {
      loader: { backlog: { recipients, blocks: 9 }, turnedAt },
    }).stuck?.()
  expect(lives(3, minutesAgo(11))).toMatch(/^the history of 3 recipients has not moved for 66\d seconds$/)
  expect(lives(0, minutesAgo(11))).toBeUndefined()
  expect(lives(3, minutesAgo(9))).toBeUndefined()
})

test('a processor whose audit has not succeeded for hours lives', () => {
  const auditor = {
    mended: { missing: 0, surplus: 0, changed: 0, unpaid: 0, contracts: 0 },
    disputed: 0,
    succeededAt: minutesAgo(300),
    blocksToGo: 9,
    silentSince: minutesAgo(300),
  }
  expect(createHealth(base, new Progress(), new Registry(), { auditor }).stuck?.()).toBeUndefined()
})

test('failures of sources are told by source and kind', async () => {
  const progress = new Progress()
  const registry = new Registry()
  createHealth(base, progress, registry)
  progress.sources.portal.note('busy')
  progress.sources.portal.note('busy')
  progress.sources.node.note('silent')
  const text = await registry.metrics()
  expect(text).toMatch(/^agent_directory_processor_source_errors_total\{chain="base",source="portal",kind="busy"\} 2$/m)
  expect(text).toMatch(/^agent_directory_processor_source_errors_total\{chain="base",source="node",kind="silent"\} 1$/m)
  expect(text).toMatch(/^agent_directory_processor_source_wait_seconds_total\{chain="base",source="node"\} 0$/m)
})

test('an upgrade of a contract is told when its block is committed, once, however often the handler ran', () => {
  const progress = new Progress()
  const upgrade = { block: 9, timestamp: 5_000, contract: '0xa', implementation: '0xb' }
  const told: unknown[] = []
  progress.onUpgrade = (one) => told.push(one)
  for (const _ of ['first', 'once more']) {
    progress.begin()
    progress.add([], 0, [], [upgrade])
  }
  expect([progress.upgradedAt, told]).toEqual([0, []])
  progress.commit(9)
  expect([progress.upgradedAt, told]).toEqual([5_000, [upgrade]])
  progress.begin()
  progress.commit(10)
  expect(told).toEqual([upgrade])
})

test('rows are counted when they are committed, once, however often the handler ran', async () => {
  const progress = new Progress()
  const registry = new Registry()
  createHealth(base, progress, registry)
  for (const _ of ['first', 'once more']) {
    progress.begin()
    progress.add([], 3, [{ blockNumber: 9, token: '0x', count: 2 }], [])
  }
  expect(await registry.metrics()).toMatch(/^agent_directory_processor_settlements_total\{chain="base"\} 0$/m)
  progress.commit(9)
  const text = await registry.metrics()
  expect(text).toMatch(/^agent_directory_processor_settlements_total\{chain="base"\} 3$/m)
  expect(text).toMatch(/^agent_directory_processor_unpaid_authorizations_total\{chain="base"\} 2$/m)
  expect(text).toMatch(/^agent_directory_processor_indexed_block\{chain="base"\} 9$/m)
  expect(text).toMatch(/^agent_directory_processor_commit_seconds_count\{chain="base"\} 1$/m)
  expect(text).toMatch(/^agent_directory_build_info\{version="\d+\.\d+\.\d+",commit="",node="v[\d.]+"\} 1$/m)
})
