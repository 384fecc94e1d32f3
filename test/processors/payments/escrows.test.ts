import { encodeAbiParameters, encodeEventTopics, encodeFunctionData, type Hex, keccak256, numberToHex, pad } from 'viem'
import { describe, expect, test } from 'vitest'
import { chains } from '../../../config/chains.ts'
import { commerceEscrowAbi } from '../../../devnet/chain/abi.ts'
import { paymentContractsOf } from '../../../processors/mapping/payment-kinds.ts'
import { paymentsOf } from '../../../processors/mapping/payments.ts'

const contracts = chains.base.paymentContracts
const escrows = contracts.filter(({ kind }) => kind === 'auth_capture')
const [newest, first] = escrows.map(({ address }) => address as Hex)
const address = (number: number) => pad(numberToHex(number), { size: 20 })

const info = {
  operator: address(1),
  payer: address(2),
  receiver: address(3),
  token: address(4),
  maxAmount: 1_000n,
  preApprovalExpiry: 10,
  authorizationExpiry: 20,
  refundExpiry: 30,
  minFeeBps: 0,
  maxFeeBps: 500,
  feeReceiver: address(5),
  salt: 6n,
}
const members = [
  { name: 'operator', type: 'address' },
  { name: 'payer', type: 'address' },
  { name: 'receiver', type: 'address' },
  { name: 'token', type: 'address' },
  { name: 'maxAmount', type: 'uint120' },
  { name: 'preApprovalExpiry', type: 'uint48' },
  { name: 'authorizationExpiry', type: 'uint48' },
  { name: 'refundExpiry', type: 'uint48' },
  { name: 'minFeeBps', type: 'uint16' },
  { name: 'maxFeeBps', type: 'uint16' },
  { name: 'feeReceiver', type: 'address' },
  { name: 'salt', type: 'uint256' },
] as const
const written = members.map(({ name, type }) => `${type} ${name}`).join(',')
const typeHash = keccak256(Buffer.from(`PaymentInfo(${written})`))
const encoded = encodeAbiParameters([{ type: 'tuple', components: members }], [info])

/** How an escrow names the payment. */
function nameAt(escrow: Hex): Hex {
  const own = keccak256(`0x${typeHash.slice(2)}${encoded.slice(2)}`)
  return keccak256(
    encodeAbiParameters([{ type: 'uint256' }, { type: 'address' }, { type: 'bytes32' }], [8453n, escrow, own]),
  )
}

const words = (...numbers: (bigint | Hex)[]) =>
  numbers.map((one) => pad(typeof one === 'bigint' ? numberToHex(one) : one).slice(2)).join('')
const terms = encoded.slice(2)
const capture = encodeFunctionData({
  abi: commerceEscrowAbi,
  functionName: 'capture',
  args: [info, 100n, 0n, address(5)],
})

/** Payments, as kind, payer, payee, gross and net, that one log of an escrow proves. */
function paymentsBy(escrow: Hex, topic: string, data: string, input: Hex = capture) {
  const log = { logIndex: 0, transactionIndex: 0, address: escrow, topics: [topic, nameAt(escrow)], data: `0x${data}` }
  const transaction = { transactionIndex: 0, hash: pad('0x22'), from: address(9), to: escrow, input }
  const block = { height: 50_000_000, hash: '0x', timestamp: 1000 }
  const { payments, unpaid } = paymentsOf(
    'base',
    { block, transaction, logs: [log] },
    [],
    paymentContractsOf(contracts),
  )
  const told = payments.map(({ kind, payer, payee, gross, net }) => [kind, Number(payer), Number(payee), gross, net])
  return unpaid.length > 0 ? 'unpaid' : (told[0] ?? [])
}

// Topics of the contracts as they were published.
const charged = '0x137b0e73e4453f43c2e1ad2552980a0e0c7e988764619974ca26d37a7159940c'
const firstCharged = '0x943ae4341dd799d7aeedc501f616cd26b134639e0bc2ec059581ba3ebbf1e7d0'
const captured = '0xac1e0db1957daedbc6944bcb4c8dc947ff8101d710671ac2ec26309f7f38d58e'
const firstCaptured = '0xe749f7bbd01b49bb05abf26ca492cb4dfdea6bedeada8a40fdccd478c73a74e2'
const reclaimed = '0x78e1d723d17e13b7f40eeab9bf6dd9148a630bafde4203ab7bb5fca983516d17'
const refunded = '0x1bf415371b303ca6b8bbb4ce479b177cba5ad15dbe0c9a7750a588aa6bcd25b2'

describe('an escrow of commerce-payments', () => {
  test('tells its fee, and the first one what part of the amount it is, rounded down', () => {
    const fees = [
      paymentsBy(newest!, charged, terms + words(101n, address(8), 3n, address(5))),
      paymentsBy(first!, firstCharged, terms + words(101n, address(8), 299n, address(5))),
      paymentsBy(newest!, captured, words(101n, 3n, address(5))),
      paymentsBy(first!, firstCaptured, words(101n, 299n, address(5))),
    ]
    const paid = (kind: string) => [kind, 1, 3, 101n, 98n]
    expect(fees).toEqual(['escrow_charge', 'escrow_charge', 'escrow_capture', 'escrow_capture'].map(paid))
  })

  test('takes no more for its fee than the amount, whatever it logs', () => {
    const most = 2n ** 256n - 1n
    expect(paymentsBy(newest!, captured, words(101n, most, address(5)))).toEqual(['escrow_capture', 1, 3, 101n, 0n])
    expect(paymentsBy(newest!, captured, words(most, 0n, address(5)))).toEqual(['escrow_capture', 1, 3, most, most])
    const charge = terms + words(101n, address(8), 102n, address(5))
    expect(paymentsBy(newest!, charged, charge)).toEqual(['escrow_charge', 1, 3, 101n, 0n])
  })

  test('gives back what was held, which was nobody’s, and what was paid, which is less income', () => {
    expect(paymentsBy(newest!, reclaimed, words(7n))).toEqual(['escrow_return', 1, 3, 7n, 0n])
    expect(paymentsBy(newest!, refunded, words(7n, address(8)))).toEqual(['escrow_refund', 1, 3, -7n, -7n])
  })

  test('has the payer of the terms where its own collector drew the money, and otherwise the operator', () => {
    expect(escrows).toHaveLength(2)
    for (const [at, { collectors = [] }] of escrows.entries()) {
      const topic = at === 0 ? charged : firstCharged
      for (const collector of collectors as Hex[]) {
        const payers = [newest!, first!].map((escrow, own) =>
          paymentsBy(escrow, own === 0 ? charged : firstCharged, terms + words(101n, collector, 0n, address(5))),
        )
        expect(payers.map((one) => one[1])).toEqual([at === 0 ? 2 : 1, at === 0 ? 1 : 2])
        expect(collectors).toHaveLength(4)
      }
      expect(paymentsBy(escrows[at]?.address as Hex, topic, terms + words(101n, address(8), 0n, address(5)))[1]).toBe(1)
    }
  })

  test('names a payment by its terms, the chain and itself: other calldata proves nothing', () => {
    expect(paymentsBy(newest!, captured, words(101n, 3n, address(5)), '0x')).toBe('unpaid')
    const other = encodeFunctionData({
      abi: commerceEscrowAbi,
      functionName: 'capture',
      args: [{ ...info, salt: 7n }, 100n, 0n, address(5)],
    })
    expect(paymentsBy(newest!, refunded, words(7n, address(8)), other)).toBe('unpaid')
  })
})

test('its events have the published topics', () => {
  const topics = commerceEscrowAbi
    .filter((one) => one.type === 'event')
    .map(({ name }) => encodeEventTopics({ abi: commerceEscrowAbi, eventName: name })[0])
  for (const topic of [charged, captured, reclaimed, refunded]) expect(topics).toContain(topic)
})
