import { decodeEventLog, decodeFunctionData, type Hex, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import type { Block } from '../portal/blocks.ts'
import { generatedSource } from '../portal/generated-source.ts'

const token = `0x${'70'.repeat(20)}`
const abi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

test('generated payments decode, agree with their logs, and no nonce or transaction comes twice', () => {
  const source = generatedSource({ firstBlock: 1_000, blocks: 40, settlementsPerBlock: 5, token })
  const blocks = [...(source.blocks(0, 5_000) as Iterable<Block>)]
  expect(blocks.map(({ header }) => header.number)).toEqual(Array.from({ length: 40 }, (_, step) => 1_000 + step))
  const selectors = new Map<string, number>()
  const nonces = new Set<string>()
  const hashes = new Set<string>()
  for (const { transactions, logs } of blocks) {
    for (const { input, sighash, transactionIndex, hash } of transactions) {
      const { args } = decodeFunctionData({ abi, data: input as Hex })
      const [from, to, value, , , nonce] = args
      const events = logs
        .filter((log) => log.transactionIndex === transactionIndex)
        .map((log) => decodeEventLog({ abi, topics: log.topics as [Hex], data: log.data as Hex }).args)
      expect(events).toEqual([
        { authorizer: from, nonce },
        { from, to, value },
      ])
      selectors.set(sighash, (selectors.get(sighash) ?? 0) + 1)
      nonces.add(nonce)
      hashes.add(hash)
    }
  }
  expect(Object.fromEntries(selectors)).toEqual({ '0xe3ee160e': 180, '0xef55bec6': 20 })
  expect(nonces.size).toBe(200)
  expect(hashes.size).toBe(200)
})

test('a block is the same however it is asked for, and linked to the one before', () => {
  const source = generatedSource({ firstBlock: 10, blocks: 10, settlementsPerBlock: 2, token })
  const [alone] = [...(source.blocks(15, 15) as Iterable<Block>)]
  const [, , , , , among] = [...(source.blocks(10, 19) as Iterable<Block>)]
  expect(alone).toEqual(among)
  expect(alone?.header.parentHash).toBe(source.header(14).hash)
})
