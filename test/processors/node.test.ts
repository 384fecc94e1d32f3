import { expect, test } from 'vitest'
import { SourceWatch } from '../../hosts/retries.ts'
import { PatientNode } from '../../processors/source/node.ts'
import type { SdkCallOptions, SdkClient } from '../../processors/source/sdk.ts'

class ConnectionError extends Error {}
/** A rate limit with Retry-After: 0. */
class BusyError extends ConnectionError {
  readonly response = { status: 429, headers: new Headers({ 'retry-after': '0' }) }
}
class RpcProtocolError extends Error {
  override readonly name = 'RpcProtocolError'
}

/** A node that fails its first requests with these errors in turn, and then answers. */
function nodeThatFails(failures: readonly Error[]) {
  const asked: SdkCallOptions[] = []
  const left = [...failures]
  const answer = async <T>(value: unknown, options: SdkCallOptions = {}): Promise<T> => {
    asked.push(options)
    const failure = left.shift()
    if (failure) throw failure
    return value as T
  }
  const client: SdkClient = {
    url: 'http://node.example',
    call: (_, __, options) => answer('0x10', options),
    batchCall: (batch, options) =>
      answer(
        batch.map(() => '0x10'),
        options,
      ),
    getConcurrency: () => 1,
    getMetrics: () => ({ url: '', requestsServed: 0, connectionErrors: 0 }),
    isConnectionError: (error) => error instanceof ConnectionError,
    supportsNotifications: () => false,
    subscribe: () => undefined,
    reset: () => {},
  }
  const watch = new SourceWatch()
  const warned: string[] = []
  const heads: number[] = []
  const log = { warn: (text: string) => warned.push(text) } as never
  const seeHead = (head: number) => void heads.push(head)
  return { asked, watch, warned, heads, node: new PatientNode(client, { log, seeHead, watch, batch: 100 }) }
}

const many = (count: number) => Array.from({ length: count }, () => new ConnectionError('reset'))

test('a node that cannot be reached is asked as often as the caller says, and by the SDK’s client once each time', async () => {
  const once = nodeThatFails(many(3))
  await expect(once.node.call('eth_chainId', [], { retryAttempts: 2 })).rejects.toThrow('reset')
  expect(once.asked).toEqual(Array(3).fill({ retryAttempts: 0 }))
  expect(once.watch.failures).toEqual({ busy: 0, useless: 0, silent: 3 })

  const exactly = nodeThatFails(many(2))
  expect(await exactly.node.call('eth_chainId', [], { retryAttempts: 2 })).toBe('0x10')

  const never = nodeThatFails(many(1))
  await expect(never.node.batchCall([{ method: 'eth_chainId' }], { retryAttempts: 0 })).rejects.toThrow('reset')
  expect(never.asked).toHaveLength(1)
})

test('without a number it is asked until it answers, and its head is seen', async () => {
  const { node, asked, watch, heads } = nodeThatFails([...many(40), new BusyError('too many'), ...many(9)])
  expect(await node.call('eth_blockNumber')).toBe('0x10')
  expect(asked).toHaveLength(51)
  expect(watch.failures).toEqual({ busy: 1, useless: 0, silent: 49 })
  expect(heads).toEqual([16])
})

test('an answer that is no use counts apart from failures of the connection, and is waited for', async () => {
  const { node, asked, watch, warned } = nodeThatFails([...many(2), new RpcProtocolError('not JSON'), ...many(2)])
  expect(await node.batchCall([{ method: 'eth_getLogs' }, { method: 'eth_getLogs' }], { retryAttempts: 4 })).toEqual([
    '0x10',
    '0x10',
  ])
  expect(asked).toHaveLength(6)
  expect(watch.failures).toEqual({ busy: 0, useless: 1, silent: 4 })
  expect(watch.waitedSeconds).toBeGreaterThan(0)
  expect(warned).toEqual(["the node's answer to eth_getLogs cannot be used: not JSON; attempt 1 of 6"])
})

test('what the node refuses is refused at once', async () => {
  const { node, asked, watch } = nodeThatFails([new Error('execution reverted')])
  await expect(node.call('eth_call')).rejects.toThrow('execution reverted')
  expect([asked.length, watch.failures]).toEqual([1, { busy: 0, useless: 0, silent: 0 }])
})
