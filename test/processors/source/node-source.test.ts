import { pino } from 'pino'
import { expect, test } from 'vitest'
import { NodeSource } from '../../../processors/source/node-source.ts'
import type { SdkClient } from '../../../processors/source/sdk.ts'
import { toSdkLog } from '../../../processors/source/sdk-log.ts'

/** A node that reports these heights of its head, one per request. */
function nodeWithHeads(heights: readonly number[]): SdkClient {
  const left = [...heights]
  return {
    url: 'http://node.example',
    call: async <T>(method: string) => {
      expect(method).toBe('eth_blockNumber')
      return `0x${left.shift()?.toString(16)}` as T
    },
    batchCall: async () => [],
    getConcurrency: () => 1,
    getMetrics: () => ({ url: '', requestsServed: 0, connectionErrors: 0 }),
    supportsNotifications: () => false,
    subscribe: () => undefined,
    reset: () => {},
  }
}

test('what is final stays final when the head falls, as in a reorg or with a node that is behind', async () => {
  const log = pino({ level: 'silent' })
  const node = nodeWithHeads([20, 17, 21])
  const progress = { seeHead: () => {} } as never
  const source = new NodeSource({ node, finalityConfirmation: 3, bloom: true, progress, log, sdkLog: toSdkLog(log) })
  const told = [await source.getFinalizedHeight(), await source.getFinalizedHeight(), await source.getFinalizedHeight()]
  expect(told).toEqual([17, 17, 18])
})
