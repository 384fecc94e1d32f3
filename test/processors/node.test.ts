import { expect, onTestFinished, test } from 'vitest'
import { SourceWatch } from '../../hosts/retries.ts'
import { RpcClient } from '../../processors/rpc-client.ts'
import { HttpTransport } from '../../processors/rpc-http.ts'
import { startAnsweringNode } from '../doubles/answering-node.ts'

// The head asks without a bound on attempts; history passes failures on to its own policy of retries.

type Refusing = Awaited<ReturnType<typeof startAnsweringNode>>['refusing']

async function clientOf(refusing: Refusing, attempts?: number) {
  const node = await startAnsweringNode((method) => ({ result: method === 'eth_blockNumber' ? '0x10' : '0x1' }))
  onTestFinished(() => node.stop())
  node.refusing = refusing
  const watch = new SourceWatch()
  const warned: string[] = []
  const heads: number[] = []
  const client = new RpcClient(new HttpTransport(node.url), {
    batch: 100,
    watch,
    log: { warn: (text) => void warned.push(text) },
    seeHead: (head) => void heads.push(head),
    ...(attempts === undefined ? {} : { attempts }),
  })
  return { client, node, watch, warned, heads }
}

const nonsense = {}
const answersOf = (calls: number) => Array(calls).fill('0x1')
const logsOf = (calls: number) => Array.from({ length: calls }, () => ({ method: 'eth_getLogs', params: [{}] }))

test('a node that cannot be reached is asked until it answers, its failures count once each, and its head is seen', async () => {
  const { client, node, watch, warned, heads } = await clientOf((_, requests) => (requests <= 4 ? 'cut' : undefined))
  expect(await client.call('eth_blockNumber')).toBe('0x10')
  expect(node.sizes).toEqual([1, 1, 1, 1, 1])
  expect(watch.failures).toEqual({ busy: 0, useless: 0, silent: 4 })
  expect(watch.waitedSeconds).toBeGreaterThan(0)
  expect(heads).toEqual([16])
  expect(warned).toEqual([expect.stringMatching(/^the node does not answer eth_blockNumber for now: .*until it does$/)])
})

test('history is told of a node that cannot be reached after four attempts', async () => {
  const { client, node, watch } = await clientOf(() => 'cut', 4)
  await expect(client.call('eth_blockNumber')).rejects.toThrow('socket hang up')
  expect(node.sizes).toEqual([1, 1, 1, 1])
  expect(watch.failures).toEqual({ busy: 0, useless: 0, silent: 4 })
})

test('a rate limit is waited out by both, with fewer calls in a request', async () => {
  const limit = { error: { code: 429, message: 'too many requests' } }
  for (const attempts of [undefined, 4]) {
    const { client, node, watch } = await clientOf((_, requests) => (requests === 1 ? limit : undefined), attempts)
    expect(await client.batchCall(logsOf(4))).toEqual(answersOf(4))
    expect([node.sizes, watch.failures]).toEqual([[4, 2, 2], { busy: 1, useless: 0, silent: 0 }])
  }
})

test('an answer that makes no sense is asked for again until it does, and counts apart', async () => {
  const { client, node, watch, warned } = await clientOf((_, requests) => (requests <= 7 ? nonsense : undefined))
  node.answering = (method, _, times) => ({ result: [method, times] })
  expect(await client.call('eth_getBlockByNumber')).toEqual(['eth_getBlockByNumber', 1])
  expect(watch.failures).toEqual({ busy: 0, useless: 7, silent: 0 })
  expect(warned).toEqual([
    'the node does not answer eth_getBlockByNumber for now: nothing that is an answer; it is asked until it does',
  ])
}, 60_000)

test('what the node refuses is refused at once, alone: the other calls of its batch are answered', async () => {
  for (const attempts of [undefined, 4]) {
    const { client, node } = await clientOf(() => undefined, attempts)
    node.answering = (method) =>
      method === 'eth_call' ? { error: { code: 3, message: 'execution reverted' } } : { result: '0x1' }
    await expect(client.call('eth_call')).rejects.toMatchObject({ name: 'RpcError', meaning: 'never' })
    expect(node.asked).toEqual(['eth_call'])
    await expect(client.batchCall([{ method: 'eth_call' }, ...logsOf(3)])).rejects.toThrow('execution reverted')
    expect(node.sizes).toEqual([1, 4, 1])
  }
})

test('history asks again for what may soon be answered, and is told at once where it can ask for less', async () => {
  const passing = { error: { code: -32603, message: 'internal error' } }
  const { client, node } = await clientOf((_, requests) => (requests % 3 === 0 ? undefined : passing), 4)
  expect(await client.call('eth_getTransactionReceipt')).toBe('0x1')
  expect(node.sizes).toEqual([1, 1, 1])
  await expect(client.call('eth_getLogs')).rejects.toMatchObject({ name: 'RpcError', meaning: 'unready' })
  expect(node.sizes).toEqual([1, 1, 1, 1])
})
