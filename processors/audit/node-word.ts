import type { ChainSettings } from '../../config/chains.file.ts'
import type { BlockRange } from '../../db/block-range.ts'
import { SourceFailure } from '../../hosts/retries.ts'
import { type History, type LogFilter, toChainBlock, wantedOf } from '../history/history.ts'
import { type RpcReceipt, type RpcTransaction, toBlock } from '../history/rpc-blocks.ts'
import { provingLogs, type RpcHeader, type RpcLog } from '../history/rpc-logs.ts'
import type { ChainBlock } from '../mapping/block.ts'
import type { TraceNode } from '../mapping/traces.ts'
import { logsOfContracts } from './contract-events.ts'
import { readBlocks } from './range-blocks.ts'

/** A block that is asked about, and what is known of it. */
interface AskedBlock {
  readonly height: number
  /** Its hash as the history source says; undefined: that source is asked. Lowercase hex. */
  readonly hash: string | undefined
  /** Transactions that may be in it, lowercase hex. */
  readonly transactions: Iterable<string>
}

/**
 * The chain's node as the second voice on single blocks. What it gave is not taken away on the word of the history
 * source alone: a hole in an archive looks like a block in which nothing happened.
 *
 * Receipts are asked for one by one. A node that leaves out logs does so where it answers many at once.
 */
export class NodeWord {
  readonly #filters: readonly LogFilter[]

  constructor(
    private readonly node: TraceNode,
    /** Asked for hashes of blocks. */
    private readonly history: History,
    chain: ChainSettings,
    private readonly warn: (text: string) => void,
  ) {
    const { addresses, topic0 } = provingLogs(wantedOf(chain))
    const paying = addresses.length > 0 ? [{ address: addresses, topic0 }] : [] // an empty list would be any address
    this.#filters = [...paying, ...logsOfContracts(chain)]
  }

  /**
   * A block with its transactions that touch the chain's contracts, and all their logs. Undefined: node and history
   * know different blocks of that height, or the node contradicts itself. Rejects when the node does not answer or does
   * not have the block.
   */
  async blockAt({ height, hash, transactions }: AskedBlock): Promise<ChainBlock | undefined> {
    const header = await this.#ask<RpcHeader>('eth_getBlockByNumber', `0x${height.toString(16)}`, false)
    if (!header) throw new SourceFailure(`the node does not have block ${height}`)
    if (header.hash !== (hash ?? (await this.#hashAt({ fromBlock: height, toBlock: height })))) return undefined
    const there = new Set(header.transactions)
    const named = [...transactions].filter((transaction) => there.has(transaction))
    const asked = [...new Set([...named, ...(await this.#touching(header))])]
    const [receipts, found] = await Promise.all([
      Promise.all(asked.map((one) => this.#ask<RpcReceipt>('eth_getTransactionReceipt', one))),
      Promise.all(asked.map((one) => this.#ask<RpcTransaction>('eth_getTransactionByHash', one))),
    ])
    // A transaction that the block names and the node does not show is no proof that nothing happened in it.
    const isWhole = [...receipts, ...found].every((one) => one?.blockHash === header.hash)
    if (!isWhole) return undefined
    const whole = toBlock(
      header,
      found as RpcTransaction[],
      (receipts as RpcReceipt[]).flatMap((receipt) => receipt.logs),
    )
    return toChainBlock(whole)
  }

  /** Hashes of a block's transactions that touch the chain's contracts, as far as eth_getLogs shows them. */
  async #touching({ hash: blockHash }: RpcHeader): Promise<string[]> {
    const filters = this.#filters.map(({ address, topic0 }) => ({ blockHash, address, topics: [topic0] }))
    const found = await Promise.all(filters.map((filter) => this.#ask<RpcLog[]>('eth_getLogs', filter)))
    return found.flatMap((logs) => logs ?? []).map(({ transactionHash }) => transactionHash)
  }

  async #hashAt(range: BlockRange): Promise<string> {
    return (await readBlocks(this.history, range, this.warn, () => {})).lastHash
  }

  async #ask<T>(method: string, ...params: unknown[]): Promise<T | null> {
    return (await this.node.call(method, params)) as T | null
  }
}

/** Rows that the history source does not have and the node confirms, or too many to remove: all stay as they are. */
export class DisputedRows extends Error {
  override readonly name = 'DisputedRows'
  constructor(
    message: string,
    readonly rows: number,
  ) {
    super(message)
  }
}

/** Disputed rows after which no further ones are looked for. */
export const enoughDisputed = 100

/** Rows that one audit may remove however few its blocks have, the share above that, and the most it may ever remove. */
const alwaysRemovable = 10
const removableShare = 0.01
const mostRemovable = 100

/** Whether an audit would remove more of the stored rows than can be a node's mistake. `stored` counts them. */
export async function areTooMany(removed: number, stored: () => Promise<number>): Promise<boolean> {
  if (removed <= alwaysRemovable) return false
  return removed > Math.min(mostRemovable, removableShare * (await stored()))
}
