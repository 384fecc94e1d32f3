import { type Address, encodeFunctionData, hashTypedData, numberToHex, pad, zeroAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import { events } from '../../../abi/generated/batch-settlement.ts'
import { events as token } from '../../../abi/generated/dollar-token.ts'
import { chains } from '../../../config/chains.ts'
import { channelsAbi } from '../../../devnet/chain/abi.ts'
import { structsIn } from '../../../processors/mapping/kinds/structs.ts'
import { paymentContractsOf } from '../../../processors/mapping/payment-kinds.ts'
import { paymentsOf } from '../../../processors/mapping/payments.ts'

const contracts = chains.base.paymentContracts
const channels = contracts.find(({ kind }) => kind === 'batch_settlement')?.address as Address
const address = (number: number) => pad(numberToHex(number), { size: 20 })

const members = [
  { name: 'payer', type: 'address' },
  { name: 'payerAuthorizer', type: 'address' },
  { name: 'receiver', type: 'address' },
  { name: 'receiverAuthorizer', type: 'address' },
  { name: 'token', type: 'address' },
  { name: 'withdrawDelay', type: 'uint40' },
  { name: 'salt', type: 'bytes32' },
] as const

type Move = readonly [from: number, to: number | Address, amount: bigint]

/** Payers by kind of the payments that a channel leaves, behind some transfers of its token and others. */
function payersOf(payerAuthorizer: Address, payer = address(1), moves: readonly Move[] = []) {
  const config = {
    payer,
    payerAuthorizer,
    receiver: address(3),
    receiverAuthorizer: address(3),
    token: address(4),
    withdrawDelay: 900,
    salt: pad('0x5'),
  } as const
  const name = hashTypedData({
    domain: { name: 'x402 Batch Settlement', version: '1', chainId: 8453, verifyingContract: channels },
    types: { ChannelConfig: members },
    primaryType: 'ChannelConfig',
    message: config,
  })
  const input = encodeFunctionData({ abi: channelsAbi, functionName: 'refund', args: [config, 1n] })
  const amounts = `${pad('0x7')}${pad('0x7').slice(2)}`
  const transfers = moves.map(([from, to, amount], logIndex) => ({
    logIndex,
    transactionIndex: 0,
    address: address(4),
    topics: [token.Transfer.topic, pad(address(from)), pad(typeof to === 'number' ? address(to) : to)],
    data: pad(numberToHex(amount)),
  }))
  const told = [events.Deposited, events.Claimed, events.Refunded].map(({ topic }, place) => ({
    logIndex: moves.length + place,
    transactionIndex: 0,
    address: channels,
    topics: [topic, name, pad(address(9))],
    data: topic === events.Refunded.topic ? pad('0x7') : amounts,
  }))
  const logs = [...transfers, ...told]
  const transaction = { transactionIndex: 0, hash: pad('0x22'), from: address(9), to: channels, input }
  const block = { height: 50_000_000, hash: '0x', timestamp: 1000 }
  const { payments } = paymentsOf('base', { block, transaction, logs }, [], paymentContractsOf(contracts))
  return payments.map(({ kind, payer }) => [kind, Number(payer)])
}

describe('the payer of a channel', () => {
  test('is who signs its vouchers, not an address that somebody named', () => {
    expect(payersOf(address(2))).toEqual([
      ['batch_deposit', 2],
      ['batch_claim', 2],
      ['batch_return', 2],
    ])
  })

  test('is the one named where nobody else may sign', () => {
    expect(payersOf(zeroAddress).map(([, payer]) => payer)).toEqual([1, 1, 1])
  })

  test('is the receiver where that put its own money in, whatever key signs', () => {
    expect(payersOf(address(2), address(3)).map(([, payer]) => payer)).toEqual([3, 3, 3])
  })
})

test('a deposit is by whom its money came from, over the hands that passed all of it on', () => {
  const paidBy = (...moves: Move[]) => payersOf(address(2), address(1), moves)
  const rest = [
    ['batch_claim', 2],
    ['batch_return', 2],
  ]
  expect(paidBy([8, channels, 7n])).toEqual([['batch_deposit', 8], ...rest])
  expect(paidBy([5, 6, 7n], [6, 8, 7n], [8, channels, 7n])).toEqual([['batch_deposit', 5], ...rest])
  // Another amount, another order, and another recipient are other money.
  expect(paidBy([5, 8, 6n], [8, channels, 7n])).toEqual([['batch_deposit', 8], ...rest])
  expect(paidBy([8, channels, 7n], [5, 8, 7n])).toEqual([['batch_deposit', 8], ...rest])
  expect(paidBy([8, 6, 7n], [8, channels, 6n])).toEqual([['batch_deposit', 2], ...rest])
  // Money that goes in a circle has an end.
  expect(paidBy([6, 8, 7n], [8, 6, 7n], [6, 8, 7n], [8, channels, 7n])).toEqual([['batch_deposit', 6], ...rest])
})

test('calldata that repeats one word is hashed at 2,048 places at most, and zeros at none', () => {
  const called = { domains: 0, names: 0 }
  const struct = {
    digits: [40, 40, 40, 40, 40, 10, 64],
    namesOf() {
      called.domains++
      return (words: readonly string[]) => {
        called.names++
        return `0x${words[0]}`
      }
    },
  }
  const calldata = (word: string) => `0x${word.repeat(4_096)}`
  expect(structsIn(calldata(pad('0x1').slice(2)), struct, 8453, channels).size).toBeLessThanOrEqual(32)
  expect(called).toEqual({ domains: 1, names: 2_048 })
  expect(structsIn(calldata('0'.repeat(64)), struct, 8453, channels).size).toBe(0)
  expect(called).toEqual({ domains: 2, names: 2_048 })
})
