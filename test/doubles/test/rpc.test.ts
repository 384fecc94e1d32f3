import { keccak256, toBytes } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accountOf, type DevChain, funder, startDevChain } from '../../../devnet/chain/chain.ts'
import { aggregate, mint, pay, signAuthorization } from '../../../devnet/chain/payments.ts'
import type { Block } from '../portal/blocks.ts'
import { readBlocks } from '../portal/rpc-blocks.ts'

const payer = accountOf('payer')
const recipient = accountOf('recipient').address

let chain: DevChain
let blocks: Block[]

beforeAll(async () => {
  chain = await startDevChain('base')
  const { token } = chain.addresses
  await chain.execute(funder, mint(chain, payer.address, 5n))
  const authorize = (value: bigint, name: string) =>
    signAuthorization(chain, payer, { to: recipient, value, nonce: keccak256(toBytes(name)) })
  const calls = [pay(await authorize(3n, 'paid')), pay(await authorize(99n, 'beyond the balance'))]
  await chain.execute(funder, aggregate(chain, calls))
  blocks = await readBlocks(chain.rpc, 0, 2)
  expect(token).toBe('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913')
})
afterAll(() => chain.stop())

test('blocks of a node are linked and whole', () => {
  expect(blocks.map(({ header }) => header.number)).toEqual([0, 1, 2])
  expect(blocks[2]?.header.parentHash).toBe(blocks[1]?.header.hash)
  expect(blocks[0]).toMatchObject({ transactions: [], logs: [], traces: [] })
  expect(blocks[2]?.transactions).toMatchObject([
    { transactionIndex: 0, from: funder.address.toLowerCase(), to: chain.addresses.batcher.toLowerCase(), status: 1 },
  ])
})

test('a successful call left two logs, a failed one next to it none', () => {
  const { token } = chain.addresses
  expect(blocks[2]?.logs).toMatchObject([
    { logIndex: 0, transactionIndex: 0, address: token, topics: { length: 3 } },
    { logIndex: 1, transactionIndex: 0, address: token, topics: { length: 3 } },
  ])
})

test('traces list the calls parents first, the failed one with its error and without a result', () => {
  const calls = blocks[2]?.traces.filter(({ traceAddress }) => traceAddress.length <= 1)
  expect(calls?.map(({ traceAddress }) => traceAddress)).toEqual([[], [0], [1]])
  const { token } = chain.addresses
  expect(calls?.[0]).toMatchObject({ type: 'call', subtraces: 2, error: null, action: { callType: 'call' } })
  expect(calls?.[1]).toMatchObject({ error: null, action: { to: token, sighash: '0xe3ee160e' }, result: {} })
  expect(calls?.[2]).toMatchObject({ action: { to: token, sighash: '0xe3ee160e' }, result: null })
  expect(calls?.[2]?.error).toMatch(/revert/)
})
