import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { readChains } from '../../../config/chains.file.ts'
import { Progress } from '../../../processors/progress.ts'
import { ChainProcessor } from '../../../processors/source/chain-processor.ts'
import { type Answering, type AnsweringNode, startAnsweringNode } from '../../doubles/answering-node.ts'
import { fixture } from '../../support/fixture.ts'

interface NodeLog {
  readonly logIndex: string
  readonly transactionIndex: string
  readonly transactionHash: string
  readonly removed?: boolean
}

interface Receipt {
  readonly transactionHash: string
  readonly logs: readonly NodeLog[]
}

export interface NodeCase {
  readonly chain: 'polygon' | 'gnosis'
  readonly registry: string
  readonly token: string | null
  readonly block: {
    readonly number: string
    readonly hash: string
    readonly timestamp: string
    readonly transactions: readonly { readonly hash: string; readonly transactionIndex: string }[]
  }
  readonly answers: { readonly eth_getLogs?: readonly NodeLog[]; readonly eth_getBlockReceipts?: readonly Receipt[] }
  readonly truth: { readonly logs: readonly NodeLog[] }
}

/** What nodes answered, by the name of the case. */
export const cases: Readonly<Record<string, NodeCase>> = fixture('chain/node-answers.json')
export const errors: Readonly<Record<string, { error: { code: number; message: string } }>> =
  fixture('chain/node-answers.json')

interface ReadBlock {
  readonly logs: readonly { readonly logIndex: number; readonly transactionIndex: number }[]
  readonly transactions: readonly { readonly transactionIndex: number; readonly hash: string }[]
}

const finality = 5
const notThere = { error: { code: -32601, message: 'the method is not available' } }

/** The logs of a case as they are on the chain. */
export function trueLogs({ answers, truth }: NodeCase): NodeLog[] {
  const logs = answers.eth_getLogs ?? answers.eth_getBlockReceipts?.flatMap((receipt) => receipt.logs) ?? []
  const there = logs.filter(({ removed }) => !removed).slice(0, truth.logs.length)
  return there.map((log, place) => ({ ...log, ...truth.logs[place] }))
}

/** Receipts of the block's transactions with these logs. */
export function receiptsOf({ block }: NodeCase, logs: readonly NodeLog[]) {
  return block.transactions.map(({ hash, transactionIndex }) => ({
    transactionHash: hash,
    transactionIndex,
    blockHash: block.hash,
    blockNumber: block.number,
    logs: logs.filter(({ transactionHash }) => transactionHash === hash),
  }))
}

/** A node with the block of a case that answers truly, but without eth_getBlockReceipts where the case has none. */
export function honestly(one: NodeCase): Answering {
  const logs = trueLogs(one)
  const receipts = receiptsOf(one, logs)
  const { hash: blockHash, number: blockNumber } = one.block
  const transactions = one.block.transactions.map((transaction) => ({ ...transaction, blockHash, blockNumber }))
  return (method, [first]) => {
    if (method === 'eth_chainId') return { result: one.chain === 'polygon' ? '0x89' : '0x64' }
    if (method === 'eth_blockNumber') return { result: `0x${(Number(one.block.number) + finality).toString(16)}` }
    if (method === 'eth_getBlockByNumber') return { result: { ...one.block, transactions } }
    if (method === 'eth_getLogs') return { result: logs }
    if (method === 'eth_getBlockReceipts' && Array.isArray(one.answers.eth_getBlockReceipts)) {
      return { result: receipts }
    }
    if (method === 'eth_getTransactionReceipt') {
      return { result: receipts.find(({ transactionHash }) => transactionHash === first) ?? null }
    }
    return notThere
  }
}

/** A node as in a case: what the case answers comes first, `times` times a method. */
export function lying(one: NodeCase, times = Number.POSITIVE_INFINITY): Answering {
  const truth = honestly(one)
  return (method, params, time) => {
    const lie = (one.answers as Record<string, unknown>)[method]
    return Array.isArray(lie) && time <= times ? { result: lie } : truth(method, params, time)
  }
}

/** Reads the final block of a case from a node, as a chain's processor does. */
export async function startReading(one: NodeCase, answering: Answering, settings: object = {}) {
  const node: AnsweringNode = await startAnsweringNode(answering)
  onTestFinished(() => node.stop())
  const fromBlock = Number(one.block.number)
  const contract = (address: string) => ({ address, fromBlock })
  const row = {
    rpc: node.url,
    portal: null,
    gateway: null,
    finality,
    registry: contract(one.registry),
    reputation: contract('0x8004baa17c55a88189ae136b182e5fda19de9b63'),
    tokens: one.token ? [{ ...contract(one.token), decimals: 6 }] : [],
    paymentContracts: [],
    ...settings,
  }
  const lines: string[] = []
  const progress = new Progress()
  const processor = new ChainProcessor({
    chain: readChains({ env: {}, file: { [one.chain]: row } })[one.chain],
    portalKey: undefined,
    log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line).msg) }),
    progress,
    final: () => undefined,
    backfilled: [],
  })
  /** The block's logs: their numbers, and the hash of the transaction that each is of. */
  const read = async () => {
    for await (const { blocks } of processor
      .getHotDataSource()
      .getFinalizedBlocks(processor.getBatchRequests(), true)) {
      return (blocks as ReadBlock[]).flatMap(({ logs, transactions }) =>
        logs.map((log) => [
          log.logIndex,
          transactions.find(({ transactionIndex }) => transactionIndex === log.transactionIndex)?.hash,
        ]),
      )
    }
    throw new Error('no block was read')
  }
  return { node, lines, progress, read, chain: processor.getChainRpcClient() }
}

/** What `read` gives of a case when it is read rightly. */
export const rightLogs = (one: NodeCase) =>
  one.truth.logs.map(({ logIndex, transactionHash }) => [Number(logIndex), transactionHash])
