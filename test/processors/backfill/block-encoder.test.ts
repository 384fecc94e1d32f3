import fc from 'fast-check'
import type { Hex } from 'viem'
import { expect, test } from 'vitest'
import { BlockEncoder } from '../../../processors/backfill/block-encoder.ts'
import { BlockScanner } from '../../../processors/history/block-scanner.ts'
import { type ArchiveBlock, toChainBlock } from '../../../processors/history/history.ts'
import type { ChainLog, ChainTransaction } from '../../../processors/mapping/block.ts'
import { paymentContractsOf } from '../../../processors/mapping/payment-kinds.ts'
import { settleBlocks } from '../../../processors/mapping/settle-blocks.ts'
import { encodeSettlements } from '../../../processors/store/settlement-copy.ts'
import { toBuilderCodes } from '../../../processors/store/settlement-record.ts'
import { addressFor, batcher, batchOf, callOf, type EntryPoint, moved, paymentOf, token, used } from '../calls.ts'

const bridged = addressFor('bridged dollar')
const tokens = new Map([
  [token, 6],
  [bridged, 18], // whole millionths of 10^-18 dollars: the rule converts them, whichever way its block is read
])
const contracts = paymentContractsOf([{ address: addressFor('proxy'), kind: 'permit2_exact', fromBlock: 0 }])
const byToken = (a: { token: string }, b: { token: string }) => (a.token < b.token ? -1 : 1)
const byLog = (a: { logIndex: number }, b: { logIndex: number }) => a.logIndex - b.logIndex
const noTraces = async () => undefined

/** Builder code at the end of calldata: {"w": "cdp_facil1"} in CBOR, schema and marker of ERC-8021. */
const codes = `a161776a6364705f666163696c31000e02${'8021'.repeat(8)}`

/** One random transaction out of all forms of a token call, impossible ones included. */
interface Drawn {
  readonly name: string
  readonly amount: bigint
  /** Hex digits appended to the calldata. */
  readonly end: string
  readonly entry: EntryPoint
  readonly token: Hex
  readonly to: 'token' | 'batcher' | 'nobody'
  readonly shape: 'direct' | 'batched' | 'twice' | 'other calldata' | 'short calldata'
  readonly logs:
    | 'both'
    | 'used alone'
    | 'transfer alone'
    | 'noise between'
    | 'transfer first'
    | 'wrong payer'
    | 'twice'
    | 'other amount'
    | 'forwarded'
    | 'split and passed on'
    | 'by a contract'
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  name: fc.string({ minLength: 1, maxLength: 3 }),
  amount: fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), fc.constantFrom(0n, 1n, 2n ** 63n - 1n)),
  entry: fc.constantFrom<EntryPoint>('transfer', 'receive', 'transferBytes', 'receiveBytes', 'approve'),
  token: fc.constantFrom(token as Hex, bridged, addressFor('unlisted')),
  to: fc.oneof({ weight: 4, arbitrary: fc.constant('token' as const) }, fc.constantFrom('batcher', 'nobody')),
  shape: fc.oneof(
    { weight: 4, arbitrary: fc.constant('direct' as const) },
    fc.constantFrom('batched', 'twice', 'other calldata', 'short calldata'),
  ),
  end: fc.constantFrom('', codes, codes.slice(1), `00${codes}`, codes.slice(18)),
  logs: fc.oneof(
    { weight: 4, arbitrary: fc.constant('both' as const) },
    fc.constantFrom(
      'used alone',
      'transfer alone',
      'noise between',
      'transfer first',
      'wrong payer',
      'twice',
      'other amount',
      'forwarded',
      'split and passed on',
      'by a contract',
    ),
  ),
})

const block = fc.record({
  number: fc.nat(2_000_000_000),
  timestamp: fc.nat(4_000_000_000),
  drawn: fc.array(drawn, { maxLength: 6 }),
})

test('any block gives the rows that the rule gives, from its text as from its items', async () => {
  await fc.assert(
    fc.asyncProperty(block, fc.boolean(), async ({ number, timestamp, drawn }, isScanned) => {
      const given = blockOf(number, timestamp, drawn)
      const { settlements, payments, unpaid } = await settleBlocks(
        'base',
        tokens,
        [toChainBlock(given)],
        noTraces,
        contracts,
      )
      const expected = Buffer.concat([...encodeSettlements(settlements)].slice(1, -1))

      const encoder = new BlockEncoder('base', tokens, noTraces, contracts)
      if (isScanned) {
        const text = Buffer.from(JSON.stringify(given))
        const scan = new BlockScanner()
        expect(scan.scan(text, 0)).toBe(text.length)
        encoder.add(text, scan)
      } else encoder.addBlock(toChainBlock(given))
      await encoder.settle()
      const { pages, tally } = encoder.pages.takeAll()
      expect(Buffer.concat(pages).toString('hex')).toBe(expected.toString('hex'))
      expect(tally.settlements).toBe(settlements.length)
      expect(tally.amount).toBe(settlements.reduce((sum, { amount }) => sum + amount, 0n))
      expect(encoder.payments.toSorted(byLog)).toEqual(payments)
      const coded = [...settlements, ...payments].filter((row) => row.codes)
      expect(toBuilderCodes(encoder.codes.toSorted(byLog))).toEqual(toBuilderCodes(coded.toSorted(byLog)))
      expect(encoder.unpaid.toSorted(byToken)).toEqual(unpaid.toSorted(byToken)) // a count a token, in any order
    }),
    { numRuns: 400 },
  )
})

test('text that is not as the archives write it is not taken for a block', () => {
  const scan = new BlockScanner()
  const given = blockOf(7, 8, [{ ...plain, logs: 'both' }])
  const text = JSON.stringify(given)
  const wrong = [
    JSON.stringify(given, null, 1),
    text.replace('"data"', '"datum"'),
    text.replace('"logIndex":0', '"logIndex":"0x0"'),
    text.replace('"number":7,', ''),
    text.slice(0, -1),
    text.replace(token, token.slice(0, -2)),
    '[]',
    '',
  ]
  expect(wrong.map((line) => scan.scan(Buffer.from(line), 0))).toEqual(wrong.map(() => -1))
  expect(scan.scan(Buffer.from(text), 0)).toBe(text.length)
})

test('text with something else for a digit is an error, not a row', () => {
  const text = JSON.stringify(blockOf(7, 8, [plain])).replace('0x2222', '0xzz22')
  const bytes = Buffer.from(text)
  const scan = new BlockScanner()
  scan.scan(bytes, 0)
  expect(() => new BlockEncoder('base', tokens, noTraces, contracts).add(bytes, scan)).toThrow(/not hex: zz22/)
})

test('the sum of two pages is the sum of their rows, in any order', async () => {
  const blocks = [1, 2, 3].map((number) => blockOf(number, 8, [plain, { ...plain, name: String(number) }]))
  const sums = await Promise.all(
    [blocks, blocks.toReversed()].map(async (order) => {
      const encoder = new BlockEncoder('base', tokens, noTraces, contracts)
      for (const one of order) encoder.addBlock(toChainBlock(one))
      await encoder.settle()
      return encoder.pages.takeAll().tally
    }),
  )
  expect(sums[0]).toEqual(sums[1])
  expect(sums[0]?.settlements).toBe(6)
})

const settledTopic = '0x97088ec3606cfe8cc112180570d03fcde05f9b8e1bfef8e27784eaf5dd5691b6'
const plain: Drawn = {
  end: '',
  name: 'a',
  amount: 5n,
  entry: 'transfer',
  token: token as Hex,
  to: 'token',
  shape: 'direct',
  logs: 'both',
}

function blockOf(number: number, timestamp: number, drawn: readonly Drawn[]): ArchiveBlock {
  const logs: ChainLog[] = []
  const transactions = drawn.map((one, transactionIndex): ChainTransaction => {
    for (const log of logsOf(one)) logs.push({ ...log, logIndex: logs.length, transactionIndex })
    const hash = `0x${'22'.repeat(31)}${transactionIndex.toString(16).padStart(2, '0')}`
    const to = { token: one.token, batcher, nobody: null }[one.to]
    return { transactionIndex, hash, from: addressFor('facilitator'), to, input: `${inputOf(one)}${one.end}` }
  })
  const hash = `0x${'aa'.repeat(32)}`
  const parentHash = `0x${'bb'.repeat(32)}`
  return { header: { number, hash, parentHash, timestamp }, transactions, logs }
}

function inputOf({ name, amount, entry, token, shape }: Drawn): Hex {
  const call = callOf(entry, paymentOf(name, { amount }))
  if (shape === 'direct') return call
  if (shape === 'short calldata') return call.slice(0, 60) as Hex
  if (shape === 'other calldata') return callOf(entry, paymentOf(`not ${name}`, { amount }))
  return shape === 'batched'
    ? batchOf([token, call])
    : batchOf([token, call], [token, callOf('receive', paymentOf(name, { amount }))])
}

function logsOf({ name, amount, token, logs }: Drawn): ChainLog[] {
  const payment = paymentOf(name, { amount })
  const note = used(payment, 0, token)
  const transfer = moved(payment, 0, token)
  const onward = (from: Hex, to: string, share: bigint) =>
    moved({ ...payment, payer: from, recipient: addressFor(to), amount: amount / share }, 0, token)
  switch (logs) {
    case 'both':
      return [note, transfer]
    case 'used alone':
      return [note]
    case 'transfer alone':
      return [transfer]
    case 'noise between':
      return [note, moved(paymentOf('noise'), 0, addressFor('another token')), transfer]
    case 'transfer first':
      return [transfer, note]
    case 'wrong payer':
      return [note, moved({ ...payment, payer: addressFor('somebody') }, 0, token)]
    case 'twice':
      return [note, transfer, note, transfer]
    case 'other amount':
      return [note, moved({ ...payment, amount: amount / 2n }, 0, token)]
    case 'forwarded':
      return [note, transfer, onward(payment.recipient, 'seller', 1n)]
    case 'split and passed on': {
      const parts = [onward(payment.recipient, 'seller', 2n), onward(payment.recipient, 'fees', 4n)]
      return [note, transfer, ...parts, onward(addressFor('seller'), 'owner', 2n)]
    }
    case 'by a contract':
      return [transfer, { ...note, address: addressFor('proxy'), topics: [settledTopic] }]
  }
}
