import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { readChains } from '../../chains.file.ts'
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
    /^at block 9 of 900 for 180 seconds$/,
  ],
  [
    'hears nothing from its source',
    { indexedBlock: 9, headBlock: 9, committedAt: minutesAgo(60), headSeenAt: minutesAgo(5) },
    /^no block and no news of the head for 300 seconds$/,
  ],
])('a processor that %s', async (_, change, expected) => {
  const problem = await problemOf(change)
  if (expected) expect(problem).toMatch(expected)
  else expect(problem).toBeUndefined()
})

test('rows are counted when they are committed, once, however often the handler ran', async () => {
  const progress = new Progress()
  const registry = new Registry()
  createHealth(base, progress, registry)
  for (const _ of ['first', 'once more']) {
    progress.begin()
    progress.add([], 3, [{ blockNumber: 9, token: '0x', count: 2 }])
  }
  expect(await registry.metrics()).toMatch(/^processor_settlements_total\{chain="base"\} 0$/m)
  progress.commit(9)
  const text = await registry.metrics()
  expect(text).toMatch(/^processor_settlements_total\{chain="base"\} 3$/m)
  expect(text).toMatch(/^processor_unpaid_authorizations_total\{chain="base"\} 2$/m)
  expect(text).toMatch(/^processor_indexed_block\{chain="base"\} 9$/m)
})
