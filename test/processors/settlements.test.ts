import type { Hex } from 'viem'
import { describe, expect, test } from 'vitest'
import type { ChainLog } from '../../processors/mapping/block.ts'
import { settleBlocks } from '../../processors/mapping/settle-blocks.ts'
import type { TokenCall } from '../../processors/mapping/settlements.ts'
import { settle } from '../../processors/mapping/settlements.ts'
import { addressFor, batcher, batchOf, callOf, moved, paymentOf, selectors, token, used } from './calls.ts'

const facilitator = addressFor('facilitator')
const block = { height: 30_000_000, hash: `0x${'11'.repeat(32)}`, timestamp: 1_746_789_347_000 }
const neverAsked = async () => {
  throw new Error('traces were asked for although the calldata says everything')
}
const noTraces = async () => undefined

interface Given {
  readonly to?: Hex | null
  readonly from?: Hex
  readonly input?: Hex
  readonly logs: ChainLog[]
  readonly tokens?: readonly string[]
  /** Of the tokens; absent: 6. */
  readonly decimals?: number
  readonly calls?: () => Promise<TokenCall[] | undefined>
}

async function settled({ to = batcher, from = facilitator, input = '0x12345678', logs, ...given }: Given) {
  const { calls = neverAsked, tokens = [token], decimals = 6 } = given
  const transaction = { transactionIndex: 0, hash: `0x${'22'.repeat(32)}`, from, to, input }
  const { settlements, unpaid } = await settle(
    'base',
    new Map(tokens.map((address) => [address, decimals])),
    { block, transaction, logs },
    calls,
    new Map(),
  )
  const short = settlements.map((row) => [row.logIndex, row.amount, row.selector, row.selectorSource] as const)
  return { settlements, short, unpaid: unpaid.map(({ logIndex }) => logIndex) }
}

const payment = paymentOf('one')

test('of a token with more decimals than a dollar is counted in, the row has whole millionths, and the exact amount', async () => {
  const input = callOf('transfer', payment)
  const logs = [used(payment, 7), moved(payment, 8)]
  const { settlements } = await settled({ to: token, input, logs, decimals: 9 })
  expect(settlements[0]).toMatchObject({ amount: 1_500n, exact: { baseUnits: 1_500_000n, decimals: 9 } })
  const coarse = await settled({ to: token, input, logs, decimals: 2 })
  expect(coarse.settlements[0]).toMatchObject({
    amount: 15_000_000_000n,
    exact: { baseUnits: 1_500_000n, decimals: 2 },
  })
})

test('a direct payment becomes a settlement with everything that is known about it', async () => {
  const { settlements } = await settled({
    to: token,
    input: callOf('transfer', payment),
    logs: [used(payment, 7), moved(payment, 8)],
  })
  expect(settlements).toEqual([
    {
      chain: 'base',
      blockNumber: 30_000_000,
      logIndex: 7,
      blockTimestamp: 1_746_789_347_000,
      amount: 1_500_000n,
      token,
      payer: payment.payer,
      recipient: payment.recipient,
      facilitator,
      paymentNonce: payment.nonce,
      txHash: `0x${'22'.repeat(32)}`,
      selector: selectors.transfer,
      selectorSource: 'c',
    },
  ])
})

test.each([
  ['one number for two logs', [used(payment, 0), moved(payment, 0)]],
  [
    'numbers that fall from one transaction to the next',
    [{ ...used(payment, 0), transactionIndex: 1 }, moved(payment, 1)],
  ],
])('%s: the block is refused, not read without what was paid', async (_, logs) => {
  const settling = settleBlocks(
    'base',
    new Map([[token, 6]]),
    [{ header: block, logs, transactions: [] }],
    noTraces,
    new Map(),
  )
  await expect(settling).rejects.toThrow('base: the source sent block 30000000 with log')
})

describe('an authorization is paired', () => {
  test('with the first transfer behind it, not with the one before it or the onward one', async () => {
    const pulled = paymentOf('pull', { recipient: batcher })
    const onward = { ...pulled, payer: batcher, recipient: addressFor('merchant') }
    const { settlements } = await settled({
      input: callOf('receive', pulled),
      logs: [moved({ ...pulled, amount: 9n }, 0), used(pulled, 1), moved(pulled, 2), moved(onward, 3)],
    })
    expect(settlements.map(({ recipient, amount }) => [recipient, amount])).toEqual([[batcher, 1_500_000n]])
  })

  test('in order, when one payer pays one recipient the same twice', async () => {
    const again = { ...payment, nonce: paymentOf('two').nonce }
    const { settlements, unpaid } = await settled({
      input: batchOf([token, callOf('transfer', payment)], [token, callOf('transferBytes', again)]),
      logs: [used(payment, 1), moved(payment, 2), used(again, 3), moved(again, 4)],
    })
    expect(settlements.map(({ logIndex, paymentNonce, selector }) => [logIndex, paymentNonce, selector])).toEqual([
      [1, payment.nonce, selectors.transfer],
      [3, again.nonce, selectors.transferBytes],
    ])
    expect(unpaid).toEqual([])
  })

  test('with a transfer of its own token and its own payer alone', async () => {
    const other = paymentOf('other', { recipient: payment.recipient })
    const { short, unpaid } = await settled({
      logs: [used(payment, 1), moved(payment, 2, addressFor('another token')), moved(other, 3)],
    })
    expect(short).toEqual([])
    expect(unpaid).toEqual([1])
  })

  test('with a transfer of its own token, when another listed one moved first', async () => {
    const bridged = addressFor('bridged dollar')
    const { settlements } = await settled({
      tokens: [token, bridged],
      input: callOf('transfer', payment),
      logs: [used(payment, 1), moved(payment, 2, bridged), moved(payment, 3)],
    })
    expect(settlements.map((row) => [row.token, row.recipient])).toEqual([[token, payment.recipient]])
    const { unpaid } = await settled({
      tokens: [token, bridged],
      input: callOf('transfer', payment),
      logs: [used(payment, 1), moved(payment, 2, bridged)],
    })
    expect(unpaid).toEqual([1])
  })

  test('and leaves a transfer that the calldata proves to be of another authorization', async () => {
    const approval = { ...payment, nonce: paymentOf('approval').nonce }
    const { short, unpaid } = await settled({
      input: batchOf([token, callOf('approve', approval)], [token, callOf('transfer', payment)]),
      logs: [used(approval, 1), used(payment, 2), moved(payment, 3)],
    })
    expect(short).toEqual([[2, 1_500_000n, selectors.transfer, 'c']])
    expect(unpaid).toEqual([1])
  })
})

describe('where the calldata does not say', () => {
  const logs = [used(payment, 1), moved(payment, 2)]
  const call = (entry: Parameters<typeof callOf>[0], to: Hex = token as Hex) => ({ to, input: callOf(entry, payment) })

  test('the trace does', async () => {
    const calls = async () => [call('receive', addressFor('another token')), call('transferBytes')]
    expect((await settled({ logs, calls })).short).toEqual([[1, 1_500_000n, selectors.transferBytes, 't']])
  })

  test('nor only one thing, the trace decides', async () => {
    const input = batchOf([token, callOf('transfer', payment)], [token, callOf('transferBytes', payment)])
    const calls = async () => [call('transferBytes')]
    expect((await settled({ input, logs, calls })).short).toEqual([[1, 1_500_000n, selectors.transferBytes, 't']])
  })

  test('a trace of another entry point shows that nothing was paid by authorization', async () => {
    const calls = async () => [call('approve')]
    expect(await settled({ logs, calls })).toMatchObject({ short: [], unpaid: [1] })
  })

  test('nor a trace, a recipient that cannot have called was paid by transfer', async () => {
    expect((await settled({ logs, calls: noTraces })).short).toEqual([[1, 1_500_000n, selectors.transfer, 'i']])
  })

  test.each<[string, Partial<Given>]>([
    ['sent the transaction', { from: payment.recipient }],
    ['was called by the transaction', { to: payment.recipient }],
    ['logged something in it', { logs: [...logs, moved(paymentOf('shares'), 3, payment.recipient)] }],
  ])('nor a trace, a recipient that %s was paid by receive', async (_, given) => {
    const { short } = await settled({ logs, calls: noTraces, ...given })
    expect(short).toEqual([[1, 1_500_000n, selectors.receive, 'i']])
  })

  test('nor a trace, a transfer that is not right behind was made by another call: an approval and transferFrom', async () => {
    const approved = { ...used(payment, 2), topics: [`0x${'8c'.repeat(32)}`, `0x${'00'.repeat(32)}`] }
    const given = { logs: [used(payment, 1), approved, moved(payment, 3)], calls: noTraces }
    expect(await settled(given)).toMatchObject({ short: [], unpaid: [1] })
  })

  test('the traces are asked for once for all authorizations of the transaction', async () => {
    const second = paymentOf('two')
    let asked = 0
    const { short } = await settled({
      logs: [...logs, used(second, 3), moved(second, 4)],
      calls: async () => {
        asked++
        return [call('transfer'), { to: token, input: callOf('receive', second) }]
      },
    })
    expect(short.map(([, , selector]) => selector)).toEqual([selectors.transfer, selectors.receive])
    expect(asked).toBe(1)
  })
})

test('an authorization that moved nothing is counted without a question', async () => {
  const { short, unpaid } = await settled({ to: token, input: callOf('approve', payment), logs: [used(payment, 1)] })
  expect(short).toEqual([])
  expect(unpaid).toEqual([1])
})

test('nothing and everything are amounts, more than eight bytes is an error that says where', async () => {
  const pay = (amount: bigint) => {
    const given = { ...payment, amount }
    return settled({ to: token, input: callOf('transfer', given), logs: [used(given, 1), moved(given, 2)] })
  }
  expect((await pay(0n)).settlements[0]?.amount).toBe(0n)
  expect((await pay(2n ** 63n - 1n)).settlements[0]?.amount).toBe(2n ** 63n - 1n)
  await expect(pay(2n ** 63n)).rejects.toThrow(/base block 30000000, log 2: an amount of 9223372036854775808/)
})

test('a transaction that creates a contract can settle too', async () => {
  const { short } = await settled({
    to: null,
    input: callOf('transfer', payment),
    logs: [used(payment, 1), moved(payment, 2)],
  })
  expect(short).toEqual([[1, 1_500_000n, selectors.transfer, 'c']])
})
