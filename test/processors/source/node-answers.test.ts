import { expect, onTestFinished, test } from 'vitest'
import { type BlockSink, RangeReader } from '../../../processors/history/range-reader.ts'
import { scannedBlock } from '../../../processors/history/scanned-block.ts'
import { openHistory } from '../../../processors/history/sources.ts'
import type { ChainBlock } from '../../../processors/mapping/block.ts'
import { startAnsweringNode } from '../../doubles/answering-node.ts'
import { until } from '../../support/until.ts'
import {
  cases,
  errors,
  honestly,
  lying,
  type NodeCase,
  receiptsOf,
  rightLogs,
  startReading,
  trueLogs,
} from './one-block.ts'

// What operators reported of real nodes, and what is right: the numbers of logs, the transaction that each log is of.

const timeout = 120_000
const numberedZero = (one: NodeCase) => trueLogs(one).map((log) => ({ ...log, logIndex: '0x0' }))
const numberedBackwards = (one: NodeCase) =>
  trueLogs(one).map((log, place, all) => ({ ...log, logIndex: `0x${(all.length - 1 - place).toString(16)}` }))
const k5 = cases.k5 as NodeCase

test.each([
  ['logs numbered from zero in each transaction', cases.k1a as NodeCase],
  ['receipts that number their logs from zero', cases.k1b as NodeCase],
  ['a transaction index that is off by one', cases.k2a as NodeCase],
  ['removed logs under the hash of the block', k5],
  ['logs that all have number zero', { ...k5, answers: { eth_getLogs: numberedZero(k5) } }],
  ['logs numbered backwards within a transaction', { ...k5, answers: { eth_getLogs: numberedBackwards(k5) } }],
  [
    'receipts that all number their logs zero',
    { ...k5, answers: { eth_getBlockReceipts: receiptsOf(k5, numberedZero(k5)) } },
  ],
])('%s, for good: the logs are read another way, and are right', { timeout }, async (_, one) => {
  const truth = honestly({ ...one, answers: { ...one.answers, eth_getLogs: trueLogs(one) } })
  const answering = lying(one)
  const { read, lines } = await startReading(one, (method, params, time) => {
    const answer = answering(method, params, time)
    return 'result' in answer ? answer : truth(method, params, time)
  })
  expect(await read()).toEqual(rightLogs(one))
  expect(lines).toEqual([
    expect.stringMatching(/^block 105: the node .*, again and again; its logs are read by eth_get/),
  ])
})

test('a node that numbers the logs of each transaction from zero is not believed about one transaction alone', async () => {
  const one = cases.k1b as NodeCase
  const truth = trueLogs(one) as (ReturnType<typeof trueLogs>[number] & { topics: string[]; data: string })[]
  const [, , last] = one.block.transactions
  const ofLast = truth.filter(({ transactionHash }) => transactionHash === last?.hash)
  const renumbered = truth.map((log, at) => ({ ...log, logIndex: `0x${at % 2}` }))
  let isWrong = true
  const node = await startAnsweringNode((method, [first], time) => {
    const logs = isWrong ? renumbered : truth
    if (method === 'eth_getLogs') return { result: logs.filter((log) => log.transactionHash === last?.hash).slice(1) }
    if (method === 'eth_getTransactionReceipt') {
      return { result: receiptsOf(one, logs).find(({ transactionHash }) => transactionHash === first) ?? null }
    }
    const { hash: blockHash } = one.block
    if (method === 'eth_getTransactionByHash') return { result: { ...last, blockHash } }
    const transactions = one.block.transactions.map(({ hash }) => hash)
    return /getBlockBy/.test(method) ? { result: { ...one.block, transactions } } : honestly(one)(method, [first], time)
  })
  onTestFinished(() => node.stop())
  const source = { kind: 'rpc', url: node.url, chainId: 137, finalityConfirmation: 5, batch: 10 } as const
  const payee = `0x${ofLast[1]?.topics[2]?.slice(26)}`
  const warned: string[] = []
  const reader = new RangeReader(openHistory(source, { tokens: [one.token ?? ''], recipients: [payee] }), 105, 105, {
    warn: (text: string) => void warned.push(text),
  })
  onTestFinished(() => reader.close())
  const read: number[] = []
  const addBlock = ({ logs }: ChainBlock) => void read.push(...logs.map(({ logIndex }) => logIndex))
  const sink: BlockSink = { addBlock, add: (text, scan) => addBlock(scannedBlock(text, scan)) }
  await reader.advance(sink)
  expect(warned).toEqual([expect.stringMatching(/logs are numbered from zero behind those of 0x/)])
  isWrong = false
  while (!reader.isDone) await reader.advance(sink)
  expect(read).toEqual(ofLast.map(({ logIndex }) => Number(logIndex)))
})

test('one log twice for a moment: the block is asked for again', { timeout }, async () => {
  const one = cases.k1c as NodeCase
  const { read, lines } = await startReading(one, lying(one, 3))
  expect(await read()).toEqual(rightLogs(one))
  expect(lines).toEqual([])
})

test('a node whose every way of giving logs is wrong is waited for, with one line', { timeout }, async () => {
  const wrong = numberedZero(k5)
  const one = { ...k5, answers: { eth_getLogs: wrong, eth_getTransactionReceipt: undefined } }
  const answering = lying(one)
  let isWrong = true
  const { read, lines } = await startReading(one, (method, params, time) => {
    if (isWrong && method === 'eth_getTransactionReceipt') return { result: receiptsOf(k5, wrong)[0] }
    return isWrong ? answering(method, params, time) : honestly(k5)(method, params, time)
  })
  const reading = read()
  await until('it says so', () => lines.some((line) => line.includes('contradicts itself')))
  expect(lines.filter((line) => line.includes('contradicts itself'))).toEqual([
    expect.stringContaining('block 105#27f69: the node numbers 2 logs with 1 numbers'),
  ])
  isWrong = false
  expect(await reading).toEqual(rightLogs(k5))
})

test('a logs bloom with a bit more than the logs that two methods agree on is overruled, once', {
  timeout,
}, async () => {
  const one = cases.k3 as NodeCase
  const { read, lines, progress } = await startReading(one, honestly(one))
  expect(await read()).toEqual(rightLogs(one))
  expect(progress.bloomMismatches).toBe(1)
  expect(lines.at(-1)).toMatch(/^block 105: its logs bloom tells of more .* two methods of the node agree on/)

  const without = await startReading(one, honestly(one), { bloom: false })
  expect(await without.read()).toEqual(rightLogs(one))
  expect([without.lines, without.progress.bloomMismatches]).toEqual([[], 0])
  expect(without.node.asked).not.toContain('eth_getLogs')
})

test('two methods that do not agree do not overrule the logs bloom', { timeout }, async () => {
  const one = cases.k3 as NodeCase
  let isShort = true
  const { read, lines, progress } = await startReading(one, (method, params, time) =>
    method === 'eth_getLogs' && isShort ? { result: trueLogs(one).slice(0, 1) } : honestly(one)(method, params, time),
  )
  const reading = read()
  await until('getLogs was given up', () => lines.some((line) => line.includes('eth_getTransactionReceipt')))
  isShort = false
  expect(await reading).toEqual(rightLogs(one))
  expect(progress.bloomMismatches).toBe(1)
})

test('a time in milliseconds is refused until it is in seconds', { timeout }, async () => {
  const one = cases.k4 as NodeCase
  const seconds = `0x${Math.floor(Number(one.block.timestamp) / 1_000).toString(16)}`
  const inSeconds = { ...one, block: { ...one.block, timestamp: seconds } }
  let isRight = false
  const none = { ...one, truth: { logs: [] } }
  const { read, lines } = await startReading(
    one,
    (method, params, time) => honestly(isRight ? { ...inSeconds, truth: none.truth } : none)(method, params, time),
    { bloom: false },
  )
  const reading = read()
  await until('it says so', () => lines.some((line) => line.includes('contradicts itself')))
  expect(lines.find((line) => line.includes('contradicts itself'))).toMatch(
    /dates the block \+058\d+-.*, later than now by more than a day/,
  )
  isRight = true
  expect(await reading).toEqual([])
})

test('eth_getLogs refused for one block: its receipts are read one by one', { timeout }, async () => {
  const one = cases.k5 as NodeCase
  const { read, lines } = await startReading(one, (method, params, time) =>
    method === 'eth_getLogs' ? (errors.k15 as { error: never }) : honestly(one)(method, params, time),
  )
  expect(await read()).toEqual(rightLogs(one))
  expect(lines).toEqual([expect.stringMatching(/^block 105: eth_getLogs is refused: ReceiptGen.*one by one$/)])
})
