import { expect, test } from 'vitest'
import { BlockReceipts } from '../../../processors/source/block-receipts.ts'
import type { SdkNodeBlock } from '../../../processors/source/sdk.ts'

// On a busy block nearly all bits of the logs bloom are set, so it does not reveal logs left out: only these checks do.

const hash = `0x${'b1'.repeat(32)}`
const hashes = ['1', '2', '3'].map((digit) => `0x${digit.repeat(64)}`)
const block = { hash, height: 7, block: { transactions: hashes } } as unknown as SdkNodeBlock
const receiptOf = (transactionHash: string, index: number) => ({
  blockHash: hash,
  transactionHash,
  transactionIndex: `0x${index}`,
  logs: [{ transactionHash }],
})
const read = (receipts: unknown) => new BlockReceipts().read(block, async () => receipts)

test('receipts are as many as the transactions of their block, or they are not taken', async () => {
  const whole = hashes.map(receiptOf)
  expect(await read(whole)).toEqual({ logs: whole.flatMap(({ logs }) => logs) })
  expect(await read(whole.slice(0, -1))).toEqual({ problem: 'the node left out the receipts of 1 transactions' })
  expect(await read([])).toEqual({ problem: 'the node left out the receipts of 3 transactions' })
  expect(await read([...whole.slice(0, -1), whole[0]])).toEqual({ problem: 'the node answers a receipt twice' })
  expect(await read(null)).toMatchObject({ problem: expect.stringContaining('no receipts') })
  const foreign = whole.map((receipt) => ({ ...receipt, blockHash: `0x${'ba'.repeat(32)}` }))
  expect(await read(foreign)).toEqual({ problem: 'the node answers receipts of another block' })
})
