import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { RangeReader } from '../../../processors/history/range-reader.ts'
import { openHistory } from '../../../processors/history/sources.ts'
import { Refusal } from '../../../processors/refusal.ts'
import { type Portal, startPortal } from '../../doubles/portal/server.ts'
import { chain } from '../backfill/load-run.ts'

const tokens = [chain.token]
const { firstBlock } = chain
const noBlocks = { add: () => undefined, addBlock: async () => {} }

let portal: Portal
beforeAll(async () => {
  portal = await startPortal({ datasets: { 'base-mainnet': chain.source } })
})
afterAll(() => portal?.stop())

test('a block whose traces are refused while a broken answer is asked for again rejects the read, not the process', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  portal.faults.add({ kind: 'line', line: 1, replace: () => 'no block' })
  const source = { kind: 'portal', url: portal.url, dataset: 'base-mainnet', key: undefined } as const
  const history = openHistory(source, { tokens })
  const traces = Promise.withResolvers<void>()
  // The reader warns when it begins to wait before it asks again.
  const warn = () => traces.reject(new Refusal('the node refuses traces'))
  const reader = new RangeReader(history, firstBlock, firstBlock + 9, { warn })
  onTestFinished(() => reader.close())
  await expect(reader.advance({ ...noBlocks, add: () => traces.promise })).rejects.toThrow('the node refuses traces')
  expect(unhandled).toEqual([])
})
