import type { Block, BlockSource, Log, Trace, Transaction } from '../test/doubles/portal/blocks.ts'
import { generatedSource, scattered } from '../test/doubles/portal/generated-source.ts'

/** A generated chain like Base in its busy months: five payments a block, in chunks like those of the SQD Network. */
export interface PaymentChain {
  readonly firstBlock: number
  readonly lastBlock: number
  readonly settlements: number
  readonly token: string
  readonly source: BlockSource
  /** Rows that an index of a block must hold, in the order of the chain, in the text form of check-rows.ts. */
  expected(block: Block): string[]
}

const token = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
const callsPerBlock = 5
/** One call in `revertedEvery` reverts; of the others, one in `innerEvery` goes through a batching contract. */
const revertedEvery = 101
const innerEvery = 50
/** Calldata from which a contract builds its call to the token: the call itself is only in the trace. */
const builtFrom = `0x5b0a9c3e${'11'.repeat(32)}`
/** Bytes that some facilitators append to the calldata. */
const trailingBytes = 33
const recipients = 200_000

const batcher = '0xca11bde05977b3631167028862be2a173976ca11'
const strangeTopic = `0x${'5d'.repeat(32)}`

interface PaymentChainOptions {
  readonly firstBlock: number
  /** Blocks of a chunk, which the network keeps together, and the number of chunks. */
  readonly chunkBlocks: number
  readonly chunks: number
  /** Recipients and selectors as on the real chain; default: all recipients equally often, by the plain selectors. */
  readonly likeMainnet?: boolean
  /** One call in so many is built by a contract. Default: none. */
  readonly builtEvery?: number
}

export const chunkBlocks = 2_000
/** Settlements of a chunk, approximately. */
export const chunkRows = chunkBlocks * callsPerBlock
/** Percentage of the real chain's payments that pass their signature as bytes. */
const bytesPercent = 97

/**
 * A chain with payments distributed as on the real one: few recipients get most, the first more than one in twenty,
 * and nearly all by the overloads.
 */
export function mainnetLikeChain(firstBlock: number, chunks: number): PaymentChain {
  return paymentChain({ firstBlock, chunkBlocks, chunks, likeMainnet: true })
}

/** A rank from 1 to `of`, drawn by Zipf's law: rank k comes 1/k as often as rank 1. Deterministic for `serial`. */
export const rankOf = (serial: number, of: number) =>
  Math.min(of, Math.floor((of + 1) ** (scattered(serial, 0xffffffff) / 0xffffffff)))

/** The chain of the benchmark: 101 chunks hold a million settlements. */
export function longPaymentChain(chunks: number): PaymentChain {
  return paymentChain({ firstBlock: 30_000_000, chunkBlocks, chunks })
}

export function paymentChain({
  firstBlock,
  chunkBlocks,
  chunks,
  likeMainnet,
  builtEvery = Number.POSITIVE_INFINITY,
}: PaymentChainOptions): PaymentChain {
  const blocks = chunks * chunkBlocks
  const size = { firstBlock, blocks, settlementsPerBlock: callsPerBlock, chunkBlocks }
  const shape = likeMainnet
    ? { recipientOf: (serial: number) => rankOf(serial, recipients), bytesPercent }
    : { recipients }
  const plain = generatedSource({ ...size, token, trailingBytes, ...shape })
  const calls = blocks * callsPerBlock
  return {
    firstBlock,
    lastBlock: firstBlock + blocks - 1,
    settlements: calls - Math.floor(calls / revertedEvery),
    token,
    source: {
      ...plain,
      *blocks(from, to) {
        for (const block of plain.blocks(from, to) as Iterable<Block>)
          yield asInRealBlocks(block, firstBlock, builtEvery)
      },
    },
    expected: ({ header, logs, transactions }) =>
      logs.flatMap((log, at) => {
        const moved = logs[at + 1]
        const transaction = transactions.find((one) => one.transactionIndex === log.transactionIndex)
        // A payment is the token's first log of two topics besides its own, and its transfer stands right behind it.
        if (log.address !== token || log.data !== '0x' || !moved || !transaction) return []
        const last = (word = '') => word.slice(-40)
        return [
          [
            header.number,
            log.logIndex,
            header.timestamp,
            BigInt(moved.data),
            transaction.innerSelector ?? transaction.sighash.slice(2),
            last(log.topics[1]),
            last(moved.topics[2]),
            transaction.from.slice(2),
            log.topics[2]?.slice(2),
            transaction.hash.slice(2),
          ].join(' '),
        ]
      }),
  }
}

/** Rewrites a block as on a real chain: some calls revert, some go through a batcher that logs too, amid noise. */
function asInRealBlocks({ header, transactions, logs }: Block, firstBlock: number, builtEvery: number): Block {
  const mixed: Transaction[] = []
  const mixedLogs: Log[] = []
  const traces: Trace[] = []
  const addLog = (log: Omit<Log, 'logIndex'>) => mixedLogs.push({ ...log, logIndex: mixedLogs.length })
  for (const [at, call] of transactions.entries()) {
    addNoise(header.number, mixed, addLog)
    const serial = (header.number - firstBlock) * callsPerBlock + at
    const transactionIndex = mixed.length
    const isReverted = serial % revertedEvery === revertedEvery - 1
    const isInner = !isReverted && serial % innerEvery === innerEvery - 1
    const isBuilt = !isReverted && serial % builtEvery === builtEvery - 1
    const built = { input: builtFrom, sighash: builtFrom.slice(0, 10), innerSelector: call.sighash.slice(2) }
    const outer = isBuilt ? built : throughBatcher(call)
    mixed.push({
      ...call,
      ...(isInner || isBuilt ? { to: batcher, ...outer } : {}),
      transactionIndex,
      status: isReverted ? 0 : 1,
    })
    const traced = { transactionIndex, from: call.from, isReverted }
    if (isInner || isBuilt) traces.push(traceOf({ ...traced, ...outer, to: batcher, at: [] }))
    const depth = isInner || isBuilt ? [0] : []
    traces.push(traceOf({ ...traced, input: call.input, sighash: call.sighash, to: token, at: depth }))
    if (isReverted) continue
    for (const log of logs) {
      if (log.transactionIndex === call.transactionIndex) addLog({ ...log, transactionIndex })
    }
    if (!isInner) continue
    const place = { transactionIndex, transactionHash: call.hash }
    addLog({ ...place, address: batcher, topics: [strangeTopic], data: `0x${'00'.repeat(96)}` })
  }
  return { header, transactions: mixed, logs: mixedLogs, traces }
}

interface Traced {
  readonly transactionIndex: number
  readonly at: readonly number[]
  readonly from: string
  readonly to: string
  readonly input: string
  readonly sighash: string
  readonly isReverted: boolean
}

function traceOf({ transactionIndex, at, from, to, input, sighash, isReverted }: Traced): Trace {
  return {
    transactionIndex,
    traceAddress: at,
    type: 'call',
    subtraces: to === batcher ? 1 : 0,
    error: isReverted ? 'Reverted' : null,
    revertReason: null,
    action: { callType: 'call', from, to, value: '0x0', gas: '0x0', input, sighash },
    result: null,
  }
}

/** Adds a transaction that no query selects. */
function addNoise(number: number, transactions: Transaction[], addLog: (log: Omit<Log, 'logIndex'>) => void) {
  const transactionIndex = transactions.length
  const hash = `0x${(number * 100 + transactionIndex).toString(16).padStart(64, 'e')}`
  const from = `0x${'ab'.repeat(20)}`
  transactions.push({ transactionIndex, hash, from, to: from, input: '0xa9059cbb', sighash: '0xa9059cbb', status: 1 })
  addLog({ transactionIndex, transactionHash: hash, address: from, topics: [strangeTopic], data: '0x' })
}

/** aggregate3 with one call, as the ABI lays it out: the call stands four bytes off the words of the outer one. */
function throughBatcher({ input, sighash }: Transaction) {
  const word = (value: number) => value.toString(16).padStart(64, '0')
  const call = input.slice(2)
  const padding = '0'.repeat((64 - (call.length % 64)) % 64)
  const words = [
    word(32),
    word(1),
    word(32),
    token.slice(2).padStart(64, '0'),
    word(1),
    word(96),
    word(call.length / 2),
  ]
  return {
    input: `0x82ad56cb${words.join('')}${call}${padding}`,
    sighash: '0x82ad56cb',
    innerSelector: sighash.slice(2),
  }
}
