import fc from 'fast-check'
import { type Address, encodeFunctionData, numberToHex, pad, zeroAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import { chains } from '../../../config/chains.ts'
import type { ChainLog } from '../../../processors/mapping/block.ts'
import { paymentContractsOf } from '../../../processors/mapping/payment-kinds.ts'
import { paymentsOf } from '../../../processors/mapping/payments.ts'
import { proxyAbi, uptoAbi } from '../../support/chain/permit2.ts'

const proxies = chains.base.paymentContracts
const exact = proxies[0]?.address as string
const upto = proxies[1]?.address as string
const contracts = paymentContractsOf(proxies)
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const settledTopic = '0x97088ec3606cfe8cc112180570d03fcde05f9b8e1bfef8e27784eaf5dd5691b6'
const permitTopic = '0xde5b89d10fc800c459329c382fabfcad0be0ed7e5328e01fae04e507b09ef5d8'
const facilitator = address(99)
const dollar = address(1000)
const shell = address(2000)

function address(number: number): string {
  return pad(numberToHex(number), { size: 20 })
}

/** A Transfer log; addresses are made of small numbers. */
interface Move {
  readonly from: number
  readonly to: number
  readonly amount: number
  readonly token?: string
}

const moved = ({ from, to, amount, token = dollar }: Move, logIndex: number): ChainLog => ({
  logIndex,
  transactionIndex: 0,
  address: token,
  topics: [transferTopic, pad(address(from) as `0x${string}`), pad(address(to) as `0x${string}`)],
  data: pad(numberToHex(amount)),
})
const proof = (logIndex: number, proxy = exact, topic = settledTopic): ChainLog => ({
  logIndex,
  transactionIndex: 0,
  address: proxy,
  topics: [topic],
  data: '0x',
})

/** Calldata of a Permit2 proxy's call that pays `to` from `owner` in a token. */
function callOf({ owner, to, token = dollar, permit = false, upto = false }: NamedPayment): string {
  const place = { owner: address(owner) as Address, token: token as Address, to: address(to) as Address }
  const signed = { permitted: { token: place.token, amount: 10n }, nonce: 1n, deadline: 2n }
  const witness = { to: place.to, validAfter: 0n }
  const common = [signed, place.owner, witness, '0x07'] as const
  const allowance = { value: 10n, deadline: 2n, r: pad('0x1'), s: pad('0x2'), v: 27 }
  if (upto) {
    const args = [signed, 10n, place.owner, { ...witness, facilitator: facilitator as Address }, '0x07'] as const
    return encodeFunctionData({ abi: uptoAbi, functionName: 'settle', args })
  }
  return permit
    ? encodeFunctionData({ abi: proxyAbi, functionName: 'settleWithPermit', args: [allowance, ...common] })
    : encodeFunctionData({ abi: proxyAbi, functionName: 'settle', args: common })
}

interface NamedPayment {
  readonly owner: number
  readonly to: number
  readonly token?: string
  readonly permit?: boolean
  readonly upto?: boolean
}

/** Payments of a transaction with these logs; `settled`: log indexes of transfers that are settlements. */
function paidIn(
  logs: readonly ChainLog[],
  settled: readonly number[] = [],
  input = '0x',
  tokens?: ReadonlyMap<string, number>,
) {
  const transaction = { transactionIndex: 0, hash: `0x${'22'.repeat(32)}`, from: facilitator, to: shell, input }
  const block = { height: 7, hash: '0x', timestamp: 1000 }
  const first = settled.map((logIndex) => {
    const log = logs.find((one) => one.logIndex === logIndex) as ChainLog
    const [from, to] = log.topics.slice(1).map((topic) => `0x${topic.slice(-40)}`) as [string, string]
    const transfer = { logIndex, position: logIndex, token: log.address, from, to, amount: log.data }
    return { logIndex: logIndex - 1, payer: from, transfer }
  })
  return paymentsOf('base', { block, transaction, logs }, first, contracts, tokens)
}

const short = ({ payments }: ReturnType<typeof paidIn>) =>
  payments.map((row) => [row.kind, Number(row.payer), Number(row.payee), Number(row.gross), row.depth] as const)
/** Payments found in moves, given in log order; a settlement's AuthorizationUsed log is right before its transfer. */
function forwardedOf(...moves: (Move & { readonly settles?: true })[]) {
  const logs = moves.map((move, at) => moved(move, 2 * at + 1))
  return short(
    paidIn(
      logs,
      moves.flatMap(({ settles }, at) => (settles ? [2 * at + 1] : [])),
    ),
  )
}
const settles = true as const

describe('a forwarder', () => {
  test('of money in a token that is not listed nothing is forwarded, however many transfers it logs', () => {
    const token = address(3000)
    const logs = Array.from({ length: 8_000 }, (_, at) => moved({ from: 2, to: 10 + at, amount: 1, token }, at + 2))
    const rows = paidIn(
      [moved({ from: 1, to: 2, amount: 8_000, token }, 0), proof(1), ...logs],
      [],
      '0x',
      new Map([[dollar, 6]]),
    ).payments
    expect(rows.map(({ kind, token: of }) => [kind, of])).toEqual([['permit2_exact', token]])
  })

  test('pays at most 256 payees for one payment; with more the money is its own', () => {
    const paid = { from: 1, to: 2, amount: 257, settles } as const
    const to = (payees: number) => Array.from({ length: payees }, (_, at) => ({ from: 2, to: 10 + at, amount: 1 }))
    expect(forwardedOf(paid, ...to(256))).toHaveLength(256)
    expect(forwardedOf(paid, ...to(257))).toEqual([])
  })

  test('is found among thousands of transfers of others without a look at each', () => {
    const first = { from: 1, to: 2, amount: 100, settles } as const
    const others = Array.from({ length: 20_000 }, (_, at) => ({ from: 5_000 + at, to: 3, amount: 1 }))
    expect(forwardedOf(first, ...others, { from: 2, to: 3, amount: 100 })).toEqual([['forwarded', 1, 3, 100, 1]])
  })

  test('that splits pays each of its payees, for the one who signed', () => {
    const split = [{ from: 1, to: 2, amount: 100, settles } as const, { from: 2, to: 3, amount: 70 }]
    expect(forwardedOf(...split, { from: 2, to: 4, amount: 30 })).toEqual([
      ['forwarded', 1, 3, 70, 1],
      ['forwarded', 1, 4, 30, 1],
    ])
  })

  test('keeps what it does not pass on, up to half', () => {
    const paid = { from: 1, to: 2, amount: 100, settles } as const
    expect(forwardedOf(paid, { from: 2, to: 3, amount: 50 })).toEqual([['forwarded', 1, 3, 50, 1]])
    expect(forwardedOf(paid, { from: 2, to: 3, amount: 49 })).toEqual([])
    expect(forwardedOf(paid, { from: 2, to: 3, amount: 101 })).toEqual([])
  })

  test('that gives change back pays the rest', () => {
    const paid = { from: 1, to: 2, amount: 100, settles } as const
    const change = { from: 2, to: 1, amount: 60 }
    expect(forwardedOf(paid, change, { from: 2, to: 3, amount: 40 })).toEqual([['forwarded', 1, 3, 40, 1]])
    expect(forwardedOf(paid, change)).toEqual([])
  })

  test('that pools payments keeps them', () => {
    const first = { from: 1, to: 2, amount: 100, settles } as const
    const second = { from: 3, to: 2, amount: 100, settles } as const
    expect(forwardedOf(first, second, { from: 2, to: 4, amount: 200 })).toEqual([])
  })

  test('that passes each payment on before it draws the next pays for each', () => {
    const forwarded = forwardedOf(
      { from: 1, to: 2, amount: 100, settles },
      { from: 2, to: 4, amount: 99 },
      { from: 3, to: 2, amount: 100, settles },
      { from: 2, to: 5, amount: 98 },
    )
    expect(forwarded).toEqual([
      ['forwarded', 1, 4, 99, 1],
      ['forwarded', 3, 5, 98, 1],
    ])
  })

  test('is followed over five hops, and money that comes back is not', () => {
    const chain = Array.from({ length: 8 }, (_, hop) => ({ from: hop + 2, to: hop + 3, amount: 100 }))
    expect(
      forwardedOf({ from: 1, to: 2, amount: 100, settles }, ...chain).map(([, , payee, , depth]) => [payee, depth]),
    ).toEqual([
      [3, 1],
      [4, 2],
      [5, 3],
      [6, 4],
      [7, 5],
    ])
    const back = [
      { from: 2, to: 3, amount: 100 },
      { from: 3, to: 2, amount: 100 },
    ]
    expect(forwardedOf({ from: 1, to: 2, amount: 100, settles }, ...back)).toEqual([['forwarded', 1, 3, 100, 1]])
  })

  test('is no payer by an earlier transfer, another token, no money, or a settlement of its own', () => {
    const paid = { from: 1, to: 2, amount: 100, settles } as const
    expect(forwardedOf({ from: 2, to: 3, amount: 100 }, paid)).toEqual([])
    expect(forwardedOf(paid, { from: 2, to: 3, amount: 100, token: shell })).toEqual([])
    expect(forwardedOf({ ...paid, amount: 0 }, { from: 2, to: 3, amount: 0 })).toEqual([])
    expect(forwardedOf(paid, { from: 2, to: 3, amount: 100, settles })).toEqual([])
  })

  test('that sent the transaction itself, as a facilitator with code may, is no payer', () => {
    const paid = { from: 1, to: 99, amount: 100, settles } as const
    expect(forwardedOf(paid, { from: 99, to: 3, amount: 97 })).toEqual([['forwarded', 1, 3, 97, 1]])
  })

  test('a deposit that a collector passes on to an escrow or a channel contract is no income of its seller', () => {
    const deposit = [{ from: 1, to: 2, amount: 100, settles } as const, { from: 2, to: 3, amount: 80 }]
    expect(forwardedOf(...deposit, { from: 2, to: 1, amount: 20 })).toEqual([['forwarded', 1, 3, 80, 1]])
  })
})

describe('a Permit2 proxy', () => {
  const first = moved({ from: 1, to: 2, amount: 10 }, 1)

  test('pays by the last transfer of any token before its log, by the kind of the proxy', () => {
    const noise = moved({ from: 8, to: 9, amount: 5 }, 0)
    expect(short(paidIn([noise, first, proof(2)]))).toEqual([['permit2_exact', 1, 2, 10, null]])
    expect(short(paidIn([noise, first, proof(2, upto, permitTopic)]))).toEqual([['permit2_upto', 1, 2, 10, null]])
    const { payments } = paidIn([moved({ from: 1, to: 2, amount: 10, token: shell }, 1), proof(2)])
    expect(payments).toEqual([expect.objectContaining({ token: shell, logIndex: 2, net: 10n, facilitator })])
  })

  test('pays for each of two logs in a transaction', () => {
    const second = moved({ from: 3, to: 4, amount: 20 }, 3)
    const logs = [first, proof(2), second, proof(4, upto)]
    expect(short(paidIn(logs))).toEqual([
      ['permit2_exact', 1, 2, 10, null],
      ['permit2_upto', 3, 4, 20, null],
    ])
  })

  test('pays nobody without a transfer of its own: the log is counted', () => {
    const { payments, unpaid } = paidIn([first, proof(2), proof(3)])
    expect(payments.length).toBe(1)
    expect(unpaid).toEqual([{ logIndex: 3, token: exact }])
    expect(paidIn([first, proof(2)], [1]).unpaid).toEqual([{ logIndex: 2, token: exact }])
  })

  test('is not one at another address, nor by another topic, nor is an NFT money', () => {
    expect(paidIn([first, proof(2, shell)])).toEqual({ payments: [], unpaid: [] })
    expect(paidIn([first, proof(2, exact, transferTopic)])).toEqual({ payments: [], unpaid: [] })
    const nft = { ...first, topics: [...first.topics, pad('0x7')], data: '0x' }
    const strange = { ...first, data: '0x' }
    expect(paidIn([nft, proof(2)]).payments).toEqual([])
    expect(paidIn([strange, proof(2)]).payments).toEqual([])
  })

  test('pays whom the calldata names where the token logs more, at any byte offset; else by the last transfer', () => {
    const tax = moved({ from: 1, to: 9, amount: 1 }, 2)
    const named = (call: string) => short(paidIn([first, tax, proof(3)], [], call))
    const paid = [['permit2_exact', 1, 2, 10, null]]
    const last = [['permit2_exact', 1, 9, 1, null]]
    const direct = callOf({ owner: 1, to: 2 })
    expect(named(direct)).toEqual(paid)
    expect(named(`0xca11${'00'.repeat(37)}${direct.slice(2)}00`)).toEqual(paid)
    expect(named(callOf({ owner: 1, to: 2, permit: true }))).toEqual(paid)
    expect(named(callOf({ owner: 1, to: 2, token: shell }))).toEqual(last)
    expect(named(callOf({ owner: 2, to: 2 }))).toEqual(last)
    expect(named(callOf({ owner: 1, to: 3 }))).toEqual(last)
    expect(named(`0x0${direct.slice(2)}0`)).toEqual(last)
    expect(named(direct.slice(0, 300))).toEqual(last)
    expect(named('0x')).toEqual(last)
    // Calldata of the other proxy does not name a payment of this one.
    expect(named(callOf({ owner: 1, to: 2, upto: true }))).toEqual(last)
    const byUpto = paidIn([first, tax, proof(3, upto)], [], callOf({ owner: 1, to: 2, upto: true }))
    expect(short(byUpto)).toEqual([['permit2_upto', 1, 2, 10, null]])
  })

  test('pays once where the calldata names the same payment twice, and through logs that are no transfers', () => {
    const failed: ChainLog = { ...proof(2), topics: [`0x0fea7e5a${'00'.repeat(28)}`] }
    const twice = `${callOf({ owner: 1, to: 2 })}${callOf({ owner: 1, to: 2 }).slice(2)}`
    expect(short(paidIn([first, failed, proof(3)], [], twice))).toEqual([['permit2_exact', 1, 2, 10, null]])
    expect(paidIn([first, failed, proof(3), proof(4)], [], twice).unpaid).toEqual([{ logIndex: 4, token: exact }])
  })

  test('pays a forwarder that passes it on', () => {
    const onward = moved({ from: 2, to: 3, amount: 9 }, 3)
    expect(paidIn([first, proof(2), onward]).payments).toEqual([
      expect.objectContaining({ kind: 'permit2_exact', logIndex: 2, forwarder: null }),
      expect.objectContaining({ kind: 'forwarded', logIndex: 3, originLogIndex: 2, forwarder: address(2), gross: 9n }),
    ])
  })
})

const move = fc.record({
  from: fc.integer({ min: 1, max: 5 }),
  to: fc.integer({ min: 1, max: 5 }),
  amount: fc.constantFrom(0, 1, 2, 3, 4, 6, 8, 10),
  token: fc.constantFrom(dollar, dollar, dollar, shell),
  role: fc.constantFrom('settles', 'settles', 'proven', 'moves', 'moves', 'moves', 'moves'),
})
type DrawnMove = Move & { readonly role: 'settles' | 'proven' | 'moves' | string; readonly token: string }

test('any transaction leaves the rows that somebody finds who reads its logs one by one', () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 14 }), (moves) => {
      const logs = moves.flatMap((one, at) => [
        moved(one, 2 * at + 1),
        ...(one.role === 'proven' ? [proof(2 * at + 2)] : []),
      ])
      const settled = moves.flatMap(({ role }, at) => (role === 'settles' ? [2 * at + 1] : []))
      const { payments } = paidIn(logs, settled)
      const found = payments.map(({ logIndex, payer, payee, gross, depth, originLogIndex }) =>
        [logIndex, Number(payer), Number(payee), Number(gross), depth ?? 0, originLogIndex ?? -1].join(' '),
      )
      expect(found).toEqual(readOneByOne(moves))
      expect(payments.every(({ payee }) => payee !== zeroAddress)).toBe(true)
    }),
    { numRuns: 2_000 },
  )
})

/** An independent implementation of the rule: money that waits to be followed is on a stack. Returns rows as text. */
function readOneByOne(moves: readonly DrawnMove[]): string[] {
  const rows: [number, string][] = []
  const used = new Set<number>()
  const starts: { at: number; payer: number; row: number }[] = []
  for (const [at, { role, from, to, amount }] of moves.entries()) {
    if (role === 'moves') continue
    used.add(at)
    const row = role === 'proven' ? 2 * at + 2 : 2 * at
    starts.push({ at, payer: from, row })
    if (role === 'proven') rows.push([row, [row, from, to, amount, 0, -1].join(' ')])
  }
  for (const { at, payer, row } of starts.reverse()) {
    const pile = [{ at, seen: [payer], hop: 1 }]
    for (let top = pile.pop(); top; top = pile.pop()) {
      if (top.hop > 5) continue
      const here = moves[top.at] as DrawnMove
      const outgoing: number[] = []
      for (let next = top.at + 1; next < moves.length; next++) {
        const one = moves[next] as DrawnMove
        if (used.has(next) || one.amount === 0 || one.token !== here.token || one.from !== here.to) continue
        outgoing.push(next)
      }
      const share = outgoing.reduce((sum, next) => sum + (moves[next] as DrawnMove).amount, 0) / here.amount
      if (!(share >= 0.5 && share <= 1)) continue
      const seen = [...top.seen, here.to]
      for (const next of outgoing) {
        used.add(next)
        const { to, amount } = moves[next] as DrawnMove
        if (seen.includes(to)) continue
        rows.push([2 * next + 1, [2 * next + 1, payer, to, amount, top.hop, row].join(' ')])
        pile.push({ at: next, seen, hop: top.hop + 1 })
      }
    }
  }
  return rows.sort(([a], [b]) => a - b).map(([, text]) => text)
}
