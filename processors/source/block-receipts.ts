import { isAnswer, type SdkNodeBlock, type SdkNodeLog } from './sdk.ts'

/** Refusals in a row after which a node counts as lacking eth_getBlockReceipts, for `withoutMs` milliseconds. */
const maxRefusals = 3
const withoutMs = 10 * 60_000
/**
 * How often the receipts of one block may be incomplete before its logs are read the other way: some nodes leave out
 * the receipts of a chain's own transactions for ever.
 */
const maxMisfits = 5
/** Most blocks whose incomplete receipts are remembered. */
const maxRemembered = 1_000
const nobody = `0x${'0'.repeat(40)}`

interface Receipt {
  readonly blockHash: string
  readonly transactionHash: string
  readonly logs: readonly SdkNodeLog[]
}

/**
 * Reads the logs of a block from a node's receipts, where it has eth_getBlockReceipts. They reveal what eth_getLogs can
 * hide: the hashes of the transactions are known from the block, so a receipt left out, with its logs, is noticed. The
 * logs bloom of a busy block has nearly all its bits set and reveals nothing.
 */
export class BlockReceipts {
  #refusals = 0
  #withoutUntil = 0
  #misfits = new Map<string, number>()

  /**
   * All logs of a block, or what is wrong with its receipts; undefined: the logs must be read by eth_getLogs. `ask`
   * calls the node.
   */
  async read(
    block: SdkNodeBlock,
    ask: (method: string, params: unknown[]) => Promise<unknown>,
  ): Promise<{ logs: readonly SdkNodeLog[] } | { problem: string } | undefined> {
    if (Date.now() < this.#withoutUntil || this.isHopeless(block)) return undefined
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
    const problem = describeMisfit(block, receipts)
    return problem ? { problem } : { logs: (receipts as Receipt[]).flatMap(({ logs }) => logs) }
  }

  /** Counts that the receipts of a block were incomplete. */
  noteMisfit({ hash }: SdkNodeBlock): void {
    if (this.#misfits.size >= maxRemembered) this.#misfits.clear()
    this.#misfits.set(hash, (this.#misfits.get(hash) ?? 0) + 1)
  }

  isHopeless({ hash }: SdkNodeBlock): boolean {
    return (this.#misfits.get(hash) ?? 0) >= maxMisfits
  }
}

function describeMisfit({ hash, block }: SdkNodeBlock, receipts: unknown): string | undefined {
  if (!Array.isArray(receipts) || !receipts.every(isReceipt))
    return 'the node answers eth_getBlockReceipts with no receipts'
  if (receipts.some(({ blockHash }) => blockHash !== hash)) return 'the node answers receipts of another block'
  const present = new Set(receipts.map(({ transactionHash }) => transactionHash))
  if (present.size < receipts.length) return 'the node answers a receipt twice'
  const missing = block.transactions.filter((transaction) => {
    if (typeof transaction === 'string') return !present.has(transaction)
    // Polygon's state sync, from nobody to nobody, has no receipt at some nodes.
    const isOfChain = transaction.from === nobody && transaction.to === nobody
    return !isOfChain && !present.has(transaction.hash)
  })
  return missing.length > 0 ? `the node left out the receipts of ${missing.length} transactions` : undefined
}

function isReceipt(value: unknown): value is Receipt {
  const { blockHash, transactionHash, logs } = (value ?? {}) as Partial<Receipt>
  return typeof blockHash === 'string' && typeof transactionHash === 'string' && Array.isArray(logs)
}
