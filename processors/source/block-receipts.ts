import { isAnswer } from '../../hosts/retries.ts'
import { hashOf } from './node-logs.ts'
import type { SdkCall, SdkNodeBlock, SdkNodeLog } from './sdk.ts'

/** Refusals in a row after which a node counts as lacking eth_getBlockReceipts, for `withoutMs` milliseconds. */
const maxRefusals = 3
const withoutMs = 10 * 60_000
const nobody = `0x${'0'.repeat(40)}`

interface Receipt {
  readonly blockHash: string
  readonly transactionHash: string
  readonly transactionIndex: string
  readonly logs: readonly SdkNodeLog[]
}

/** All logs of a block, or what is wrong with the receipts that hold them. */
export type ReadLogs = { readonly logs: readonly SdkNodeLog[] } | { readonly problem: string }

/**
 * Reads the logs of a block from a node's receipts, where it has eth_getBlockReceipts. They reveal what eth_getLogs can
 * hide: the hashes of the transactions are known from the block, so a receipt left out, with its logs, is noticed. The
 * logs bloom of a busy block has nearly all its bits set and reveals nothing.
 */
export class BlockReceipts {
  #refusals = 0
  #withoutUntil = 0

  /** Undefined: the node does not answer eth_getBlockReceipts. `ask` calls the node. */
  async read(
    block: SdkNodeBlock,
    ask: (method: string, params: unknown[]) => Promise<unknown>,
  ): Promise<ReadLogs | undefined> {
    if (Date.now() < this.#withoutUntil) return undefined
    let receipts: unknown
    try {
      receipts = await ask('eth_getBlockReceipts', [`0x${block.height.toString(16)}`])
      this.#refusals = 0
    } catch (error) {
      if (!isAnswer(error)) throw error
      if (++this.#refusals < maxRefusals) return undefined
      this.#refusals = 0
      this.#withoutUntil = Date.now() + withoutMs
      return undefined
    }
    return logsOf(block, receipts)
  }
}

/** Reads the logs of a block from the receipts of its transactions, which are asked for one by one, in batches. */
export async function readSingleReceipts(
  block: SdkNodeBlock,
  ask: (calls: SdkCall[]) => Promise<unknown[]>,
): Promise<ReadLogs> {
  const hashes = block.block.transactions.filter((transaction) => !isOfChain(transaction)).map(hashOf)
  const receipts = await ask(hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })))
  return logsOf(
    block,
    receipts.filter((receipt) => receipt !== null),
  )
}

function logsOf(block: SdkNodeBlock, receipts: unknown): ReadLogs {
  const problem = describeMisfit(block, receipts)
  return problem ? { problem } : { logs: (receipts as Receipt[]).flatMap(({ logs }) => logs) }
}

function describeMisfit({ hash, block }: SdkNodeBlock, receipts: unknown): string | undefined {
  if (!Array.isArray(receipts) || !receipts.every(isReceipt)) return 'the node answers no receipts'
  if (receipts.some(({ blockHash }) => blockHash !== hash)) return 'the node answers receipts of another block'
  const present = new Set(receipts.map(({ transactionHash }) => transactionHash))
  if (present.size < receipts.length) return 'the node answers a receipt twice'
  const missing = block.transactions.filter(
    (transaction) => !isOfChain(transaction) && !present.has(hashOf(transaction)),
  )
  if (missing.length > 0) return `the node left out the receipts of ${missing.length} transactions`
  const indexes = new Map(block.transactions.map((transaction, index) => [hashOf(transaction), index]))
  const wrong = receipts.find(({ transactionHash, transactionIndex, logs }) => {
    const index = indexes.get(transactionHash) ?? Number(transactionIndex)
    return Number(transactionIndex) !== index || logs.some((log) => log.transactionHash !== transactionHash)
  })
  return wrong && `the node answers for transaction ${Number(wrong.transactionIndex)} the receipt or logs of another`
}

/** Whether a transaction is Polygon's state sync, from nobody to nobody, which has no receipt at some nodes. */
function isOfChain(transaction: SdkNodeBlock['block']['transactions'][number]): boolean {
  return typeof transaction !== 'string' && transaction.from === nobody && transaction.to === nobody
}

function isReceipt(value: unknown): value is Receipt {
  const { blockHash, transactionHash, logs } = (value ?? {}) as Partial<Receipt>
  return typeof blockHash === 'string' && typeof transactionHash === 'string' && Array.isArray(logs)
}
