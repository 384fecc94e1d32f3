import type { Block, Log, Trace, Transaction } from './blocks.ts'

/** Blocks read at a time. */
const blocksAtOnce = 16

/**
 * Blocks of a node as the network's archives would hold them, call traces included, `from` and `to` included. The
 * node must answer `eth_getBlockReceipts` and `debug_traceBlockByNumber`.
 */
export async function readBlocks(rpc: string, from: number, to: number): Promise<Block[]> {
  const blocks: Block[] = []
  for (let first = from; first <= to; first += blocksAtOnce) {
    const numbers = Array.from({ length: Math.min(blocksAtOnce, to - first + 1) }, (_, step) => first + step)
    blocks.push(...(await Promise.all(numbers.map((number) => readBlock(rpc, number)))))
  }
  return blocks
}

async function readBlock(rpc: string, number: number): Promise<Block> {
  const tag = `0x${number.toString(16)}`
  const [block, receipts] = await Promise.all([
    ask<RpcBlock | null>(rpc, 'eth_getBlockByNumber', [tag, true]),
    ask<RpcReceipt[]>(rpc, 'eth_getBlockReceipts', [tag]),
  ])
  if (!block) throw new Error(`the node has no block ${number}`)
  // A node cannot trace its first block.
  const traced = number === 0 ? [] : await ask<RpcTrace[]>(rpc, 'debug_traceBlockByNumber', [tag, tracer])
  return {
    header: {
      number,
      hash: block.hash,
      parentHash: block.parentHash,
      timestamp: Number(block.timestamp),
    },
    transactions: block.transactions.map((transaction, index): Transaction => {
      const { hash, from, to, input, nonce, value } = transaction
      const sighash = input.length < 10 ? '0x' : input.slice(0, 10)
      const status = Number(receipts[index]!.status)
      return { transactionIndex: index, hash, from, to, input, sighash, status, nonce: Number(nonce), value }
    }),
    logs: receipts.flatMap(({ logs }) => logs.map(toLog)),
    traces: traced.flatMap(({ result }, index) => [...flatten(result, index, [])]),
  }
}

const tracer = { tracer: 'callTracer' }

interface RpcBlock {
  readonly hash: string
  readonly parentHash: string
  readonly timestamp: string
  readonly transactions: readonly {
    readonly hash: string
    readonly from: string
    readonly to: string | null
    readonly input: string
    readonly nonce: string
    readonly value: string
  }[]
}

interface RpcReceipt {
  readonly status: string
  readonly logs: readonly RpcLog[]
}

interface RpcLog {
  readonly logIndex: string
  readonly transactionIndex: string
  readonly transactionHash: string
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

interface RpcTrace {
  readonly result: Frame
}

interface Frame {
  readonly type: string
  readonly from: string
  readonly to?: string
  readonly input: string
  readonly output?: string
  readonly value?: string
  readonly gas: string
  readonly gasUsed: string
  readonly error?: string
  readonly revertReason?: string
  readonly calls?: readonly Frame[]
}

function toLog({ logIndex, transactionIndex, transactionHash, address, topics, data }: RpcLog): Log {
  const position = { logIndex: Number(logIndex), transactionIndex: Number(transactionIndex), transactionHash }
  return { ...position, address, topics, data }
}

/** A call tree as a list, parents first. Frames that destroy a contract do not occur in ours. */
function* flatten(frame: Frame, transactionIndex: number, traceAddress: readonly number[]): Generator<Trace> {
  const { type, from, to, input, value = null, gas, gasUsed, error = null, revertReason = null, calls = [] } = frame
  const place = { transactionIndex, traceAddress, subtraces: calls.length, error, revertReason }
  if (type === 'CREATE' || type === 'CREATE2') {
    const result = error === null ? { gasUsed, code: frame.output ?? '0x', address: to } : null
    yield { ...place, type: 'create', action: { from, value, gas, init: input }, result }
  } else {
    const sighash = input.length < 10 ? '0x' : input.slice(0, 10)
    const action = { callType: type.toLowerCase(), from, to, value, gas, input, sighash }
    yield { ...place, type: 'call', action, result: error === null ? { gasUsed, output: frame.output ?? '0x' } : null }
  }
  for (const [step, call] of calls.entries()) yield* flatten(call, transactionIndex, [...traceAddress, step])
}

async function ask<T>(rpc: string, method: string, params: unknown[]): Promise<T> {
  const response = await fetch(rpc, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as { result?: T; error?: { message: string } }
  if (error) throw new Error(`${method} at ${rpc}: ${error.message}`)
  return result as T
}
