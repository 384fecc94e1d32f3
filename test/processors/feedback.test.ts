import { encodeAbiParameters, type Hex, keccak256, parseAbiParameters, toBytes } from 'viem'
import { expect, test } from 'vitest'
import type { ChainBlock, ChainLog } from '../../processors/mapping/block.ts'
import { applyFeedbackEvents, feedbackEvents } from '../../processors/mapping/feedback.ts'
import { addressFor } from './calls.ts'

const registry = '0x8004baa17c55a88189ae136b182e5fda19de9b63'
const client = addressFor('client')
const word = (value: bigint | string) => `0x${BigInt(value).toString(16).padStart(64, '0')}`

const givenTopic = keccak256(
  toBytes('NewFeedback(uint256,address,uint64,int128,uint8,string,string,string,string,string,bytes32)'),
)
const revokedTopic = keccak256(toBytes('FeedbackRevoked(uint256,address,uint64)'))

function given(index: bigint, value: bigint, tag: string, logIndex = 0): ChainLog {
  const data = encodeAbiParameters(
    parseAbiParameters('uint64, int128, uint8, string, string, string, string, bytes32'),
    [index, value, 2, tag, 'tag2', 'https://agent.example', 'ipfs://feedback', `0x${'ab'.repeat(32)}`],
  )
  const topics = [givenTopic, word(0n), word(client), keccak256(toBytes(tag))]
  return { logIndex, transactionIndex: 0, address: registry, topics, data }
}

function revoked(index: bigint, logIndex = 1): ChainLog {
  return {
    logIndex,
    transactionIndex: 0,
    address: registry,
    topics: [revokedTopic, word(0n), word(client), word(index)],
    data: '0x',
  }
}

function blockOf(height: number, ...logs: ChainLog[]): ChainBlock {
  const transaction = {
    transactionIndex: 0,
    hash: word(BigInt(height)) as Hex,
    from: client,
    to: registry,
    input: '0x',
  }
  return { header: { height, hash: word(1n), timestamp: height * 1000 }, logs, transactions: [transaction] }
}

const index = (...blocks: ChainBlock[]) => blocks.flatMap((block) => feedbackEvents('base', block, registry))

test('feedback is kept with its sign, its texts cleaned', () => {
  const [row] = applyFeedbackEvents([], index(blockOf(5, given(1n, -(2n ** 127n), 'a\u0000b'))))
  expect(row).toMatchObject({
    id: `base-0-${client}-1`,
    agentId: 0n,
    feedbackIndex: 1n,
    value: -(2n ** 127n),
    valueDecimals: 2,
    tag1: 'a\ufffdb',
    tag2: 'tag2',
    endpoint: 'https://agent.example',
    feedbackUri: 'ipfs://feedback',
    blockNumber: 5,
    revokedBlock: null,
    revokedAt: null,
  })
})

test('feedback that is taken back in the same batch is one row', () => {
  const rows = applyFeedbackEvents([], index(blockOf(5, given(1n, 1n, 't'), revoked(1n))))
  expect(rows.map(({ id, revokedBlock }) => [id, revokedBlock])).toEqual([[`base-0-${client}-1`, 5]])
})

test('feedback of an earlier batch is taken back with all it said', () => {
  const stored = applyFeedbackEvents([], index(blockOf(5, given(1n, 7n, 't'))))
  const [row] = applyFeedbackEvents(stored, index(blockOf(9, revoked(1n))))
  expect(row).toMatchObject({ value: 7n, blockNumber: 5, revokedBlock: 9, revokedAt: new Date(9000) })
})

test('to take back what was never given changes nothing', () => {
  expect(applyFeedbackEvents([], index(blockOf(9, revoked(1n))))).toEqual([])
})

test('what other contracts log is not feedback', () => {
  const log = { ...given(1n, 1n, 't'), address: addressFor('elsewhere') }
  expect(index(blockOf(5, log))).toEqual([])
})
