import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type DevChain, startDevChain } from '../../devnet/chain/chain.ts'
import { changing, type RpcFault, refusing } from '../doubles/rpc-faults.ts'
import { type RpcProxy, type RpcProxyOptions, startRpcProxy } from '../doubles/rpc-proxy.ts'
import { forkHere } from '../support/chain/branches.ts'
import { type ChainIndex, cleanTables, indexChain, startProcessor, untilSame } from '../support/chain/index-chain.ts'
import { describeDifference } from '../support/chain/oracle.ts'
import type { TestProcessor } from '../support/chain/processor.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'
import { type Block, foreignHash, type Log, receiptTroubles, type Trouble, troubles } from './node-troubles.ts'
import { prepareTraffic, trafficAddresses, trafficBranch } from './traffic.ts'
import { expectDerived } from './traffic-agents.ts'

const finality = 10 // blocks
/** Blocks before a processor starts: some are final, and they take more than one of its requests. */
const historyBlocks = 26
const growthBlocks = 2
const timeout = 400_000
/** A node without eth_getBlockReceipts, as many are: logs are read by eth_getLogs. */
const withoutReceipts: RpcProxyOptions = { refuses: (method) => method === 'eth_getBlockReceipts' }

let chain: DevChain
/** An index of the node without the faulty proxy: the rows that are expected. */
let reference: ChainIndex
/** A processor whose node stops answering. It waits for a minute, so it starts first and is checked last. */
let silent: { proxy: RpcProxy; index: ChainIndex }

beforeAll(async () => {
  chain = await startDevChain('base', { funded: trafficAddresses })
  await prepareTraffic(chain)
  await grow('history', historyBlocks)
  const proxy = await startRpcProxy(chain.rpc, withoutReceipts)
  // Every request of a minute: one is retried after half a minute at the earliest.
  proxy.faults.add({ kind: 'silence' }, { method: 'eth_getLogs', times: 6 })
  silent = { proxy, index: await indexChain(chain, { finality, rpc: proxy.url }) }
  reference = await indexChain(chain, { finality })
  await reference.untilHead()
})
afterAll(async () => {
  await silent?.index.close()
  await silent?.proxy.close()
  await reference?.close()
  await chain?.stop()
})

describe('a node in trouble, in history and at the head, changes no row, and nothing derived:', () => {
  test.each([
    ...troubles.map(([name, trouble]) => [name, trouble, withoutReceipts] as const),
    ...receiptTroubles.map(([name, trouble]) => [name, trouble, {}] as const),
  ])('%s', { timeout }, async (_, trouble, options) => {
    const { proxy, database, processor } = await start(trouble, options)
    await processor.untilIndexed(await head())
    await reachReference({ database, processor })
    await until('everything has gone wrong', () => proxy.faults.pending === 0)
    await expectDerived(database)

    trouble(proxy.faults)
    await grow('growth', growthBlocks)
    await reachReference({ database, processor })
    await until('everything has gone wrong', () => proxy.faults.pending === 0)
    await reachReference({ database, processor })
    await expectDerived(database)
  })

  test('refusals of what the node does not have yet, at the head', { timeout }, async () => {
    const { proxy, database, processor } = await start()
    await processor.untilIndexed(await head())
    for (const method of ['eth_getBlockByNumber', 'eth_getLogs']) {
      proxy.faults.add(refusing(-32000, 'block range extends beyond current head block'), { method, times: 3 })
    }
    await grow('beyond', growthBlocks)
    await reachReference({ database, processor })
    expect(proxy.faults.pending).toBe(0)
  })
})

test('a node that asks for a pause is not asked before it is over', async () => {
  const { proxy, processor } = await start((faults) => {
    faults.add({ kind: 'status', status: 429, retryAfterSeconds: 3 }, { skip: 4 })
  })
  await processor.untilIndexed(await head())
  const gaps = proxy.times.slice(1).map((time, place) => time - (proxy.times[place] as number))
  expect(Math.max(...gaps)).toBeGreaterThanOrEqual(2_900)
})

describe('a node that contradicts itself for long is waited for, with one line, and the rows are right:', () => {
  const method = 'eth_getBlockByNumber'
  test.each<[string, RpcFault, RegExp]>([
    [
      'history without its transactions',
      changing<Block | null>(method, (block) => block && { ...block, transactions: [] }),
      /left out the transactions/,
    ],
    [
      'history on another branch',
      changing<Block | null>(method, (block) => block && { ...block, parentHash: foreignHash }),
      /has parent/,
    ],
  ])('%s', { timeout }, async (_, fault, reason) => {
    const { proxy, database, processor } = await start((faults) => faults.add(fault, { method, times: Infinity }))
    await processor.untilOutput(/the node contradicts itself/)
    const told = warnings(processor).filter((line) => line.includes('the node contradicts itself'))
    expect(told).toEqual([expect.stringMatching(reason)])
    proxy.faults.clear()
    await reachReference({ database, processor })
  })
})

test('logs that are missing for good are read from the receipts of their transactions', { timeout }, async () => {
  // Only of blocks that keep another one: the first block of an answer, which differs with the time of each question, then
  // always shows by its other logs which one is missing.
  const hasAnother = ([first, second]: Log[]) => second !== undefined && first?.blockHash === second.blockHash
  const fault = changing<Log[]>('eth_getLogs', (logs) => (hasAnother(logs) ? logs.slice(1) : logs))
  const { database, processor } = await start((faults) => faults.add(fault, { method: 'eth_getLogs', times: Infinity }))
  await reachReference({ database, processor })
  expect(warnings(processor)).toContainEqual(
    expect.stringMatching(/left out log 0, again and again; its logs are read by eth_getTransactionReceipt/),
  )
})

test('answers cut short for long are waited for, with one line, and the rows are right', { timeout }, async () => {
  const { proxy, database, processor } = await start((faults) =>
    faults.add({ kind: 'text', change: (text) => text.slice(1) }, { times: Infinity }),
  )
  await processor.untilOutput(/the node does not answer/)
  expect(warnings(processor)).toEqual([expect.stringMatching(/no JSON.*it is asked until it does/)])
  proxy.faults.clear()
  await reachReference({ database, processor })
})

test('a node that is silent for a minute is asked again, and the rows are right', { timeout }, async () => {
  await untilSame(silent.index, chain, await reference.tables(), 90)
  expect(silent.proxy.faults.pending).toBe(0)
})

test('what the chain says is what a clean index says', async () => {
  expect(describeDifference(await reference.tables(), await cleanTables(chain, { finality }))).toBe('')
})

async function start(trouble: Trouble = () => {}, options: RpcProxyOptions = withoutReceipts) {
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  const proxy = await startRpcProxy(chain.rpc, options)
  onTestFinished(() => proxy.close())
  trouble(proxy.faults)
  const processor = await startProcessor(chain, database, { finality, rpc: proxy.url })
  onTestFinished(() => processor.stop())
  return { proxy, database, processor }
}

function warnings({ output }: TestProcessor): string[] {
  return output()
    .split('\n')
    .filter((line) => /"level":40/.test(line))
}

let grown = 0
async function grow(name: string, blocks: number) {
  const fork = await forkHere(chain)
  await fork.mine(await trafficBranch(chain, `${name} ${grown++}`, blocks))
}

async function head(): Promise<number> {
  return Number(await chain.client.getBlockNumber())
}

async function reachReference(index: { database: TestDatabase; processor: TestProcessor }) {
  await reference.untilHead()
  await untilSame(index, chain, await reference.tables())
}
