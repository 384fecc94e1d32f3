import fc from 'fast-check'
import { concat, type Hex, numberToHex, padHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { TextFields } from '../../processors/mapping/hex-fields.ts'
import { findCall } from '../../processors/mapping/selector.ts'
import { settlementRecordings } from '../support/recorded/settlements.ts'
import { batcher, batchOf, callOf, type EntryPoint, type Payment, paymentOf, selectors, token } from './calls.ts'

const payment = paymentOf('one')
const listed = Object.keys(selectors) as (keyof typeof selectors)[]

function find(to: string | null, input: Hex, wanted: Payment = payment): string | undefined {
  const { payer: authorizer, nonce, recipient, amount } = wanted
  const fields = new TextFields({ to, input }, [], new Set())
  const word = padHex(numberToHex(amount), { size: 32 })
  const place = findCall(fields, { token, authorizer, nonce }, { to: recipient, amount: word })
  return place === undefined ? undefined : fields.calldata.paymentSelectorAt(place)
}

const recordings = settlementRecordings() as unknown as {
  transaction: { hash: string; to: string; input: Hex }
  decoded: { selector: string; from: string; to: string; value: string; nonce: Hex }
}[]

describe('recorded calls of Base', () => {
  test('are eighteen', () => expect(recordings).toHaveLength(18))

  test.each(recordings)('$transaction.hash', ({ transaction, decoded }) => {
    const wanted: Payment = {
      payer: decoded.from.toLowerCase() as Hex,
      recipient: decoded.to.toLowerCase() as Hex,
      amount: BigInt(decoded.value),
      nonce: decoded.nonce,
    }
    expect(find(transaction.to, transaction.input, wanted)).toBe(decoded.selector)
    const inBatch = batchOf([token, transaction.input], [token, callOf('receive', paymentOf('other'))])
    expect(find(batcher, inBatch, wanted)).toBe(decoded.selector)
    for (const other of [
      { ...wanted, amount: wanted.amount + 1n },
      { ...wanted, recipient: wanted.payer },
      { ...wanted, payer: wanted.recipient },
      { ...wanted, nonce: padHex('0x01', { size: 32 }) },
    ]) {
      expect(find(transaction.to, transaction.input, other)).toBeUndefined()
    }
  })
})

describe('a call in the calldata', () => {
  test.each(listed)('%s is found when it is the transaction itself', (entry) => {
    expect(find(token, callOf(entry, payment))).toBe(selectors[entry])
  })

  test.each(listed)('%s is found at any byte offset', (entry) => {
    const call = callOf(entry, payment)
    for (let offset = 0; offset < 40; offset++) {
      const input = concat([`0x${'ab'.repeat(offset)}`, call, `0x${'cd'.repeat(offset)}`])
      expect(find(batcher, input)).toBe(selectors[entry])
    }
  })

  test('is not found when the token does not list its entry point', () => {
    expect(find(token, callOf('approve', payment))).toBeUndefined()
  })

  test('is not taken for one when it is shifted by half a byte', () => {
    const call = callOf('transfer', payment)
    expect(find(batcher, `0x1${call.slice(2)}0`)).toBeUndefined()
  })

  test('is found when its nonce is zeros, as are the digits in front of it', () => {
    const zeros = paymentOf('zeros', { nonce: padHex('0x', { size: 32 }) })
    expect(find(batcher, batchOf([token, callOf('receiveBytes', zeros)]), zeros)).toBe(selectors.receiveBytes)
  })

  test('is found with dirt in front of the addresses, which older compilers ignore', () => {
    const call = callOf('transfer', payment)
    const dirty = `${call.slice(0, 10)}ff${call.slice(12, 74)}ff${call.slice(76)}` as Hex
    expect(find(token, dirty)).toBe(selectors.transfer)
  })

  test('is not found when it is cut off before the nonce ends', () => {
    const call = callOf('transfer', payment)
    expect(find(token, call.slice(0, 2 + 8 + 6 * 64 - 2) as Hex)).toBeUndefined()
    expect(find(token, call.slice(0, 2 + 8 + 6 * 64) as Hex)).toBe(selectors.transfer)
  })
})

describe('several places with the same authorization', () => {
  const asked: [string, EntryPoint[], EntryPoint | undefined][] = [
    ['that name one entry point give it', ['transfer', 'transfer', 'transfer'], 'transfer'],
    ['that name two leave it open', ['transfer', 'transferBytes'], undefined],
    ['of which one is not listed give the other', ['approve', 'receive'], 'receive'],
  ]
  test.each(asked)('%s', (_, entries, expected) => {
    const input = batchOf(...entries.map((entry) => [token as Hex, callOf(entry, payment)] as const))
    expect(find(batcher, input)).toBe(expected && selectors[expected as keyof typeof selectors])
  })

  test('do not matter when the transaction itself is the call', () => {
    const input = concat([callOf('transferBytes', payment), callOf('receive', payment)])
    expect(find(token, input)).toBe(selectors.transferBytes)
    expect(find(batcher, input)).toBeUndefined()
  })
})

test('calldata of 128 KiB that holds the nonce everywhere is left to the traces, within a fraction of a millisecond', () => {
  const zeros = paymentOf('zeros', { nonce: padHex('0x', { size: 32 }) })
  const input = `${batchOf([token, callOf('transfer', zeros)])}${'00'.repeat(128 * 1024)}` as Hex
  let fastest = Number.POSITIVE_INFINITY
  for (let search = 0; search < 200; search++) {
    const began = performance.now()
    expect(find(batcher, input, zeros)).toBeUndefined()
    fastest = Math.min(fastest, performance.now() - began)
  }
  // A search of every position takes 25 ms. The fastest run is compared, because other load slows single runs.
  expect(fastest).toBeLessThan(2.5)
})

test('no calldata makes the search fail, and none that does not hold the nonce names an entry point', () => {
  const hex = fc.uint8Array({ maxLength: 2_000 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}` as Hex)
  const awkward = fc.oneof(hex, fc.constant<Hex>('0x'), fc.string() as fc.Arbitrary<Hex>)
  const zeros = paymentOf('zero', { nonce: padHex('0x', { size: 32 }) })
  fc.assert(
    fc.property(awkward, fc.constantFrom(token, batcher, null), fc.nat(400), (noise, to, zeroBytes) => {
      const input = `${noise}${'00'.repeat(zeroBytes)}` as Hex
      expect(find(to, input)).toBeUndefined()
      expect(find(to, input, zeros)).toBeUndefined()
    }),
  )
})

test('a call is found in any noise around it, as long as that does not repeat the nonce', () => {
  const noise = fc.uint8Array({ maxLength: 300 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}` as Hex)
  fc.assert(
    fc.property(noise, noise, fc.constantFrom(...listed), (before, after, entry) => {
      expect(find(batcher, concat([before, callOf(entry, payment), after]))).toBe(selectors[entry])
    }),
  )
})
