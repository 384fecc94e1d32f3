import { setTimeout as delay } from 'node:timers/promises'
import { BlockReceipts } from './block-receipts.ts'
import { describeGap } from './node-logs.ts'
import { type SdkClient, type SdkNodeBlock, SdkReaderClass } from './sdk.ts'
import type { SdkLog } from './sdk-log.ts'

/** Milliseconds before a node is asked again for what was missing or incomplete. */
const retryMs = 200

/**
 * The SDK's reader of a node's blocks, which asks again for what cannot be the truth about a block: another block than
 * the one asked for, and logs that are not all there. The SDK asserts the order of blocks itself, and of logs only that
 * there are some. Logs come from the block's receipts where the node has them, else from eth_getLogs.
 *
 * Not checked: that a block's hash is the hash of its content.
 */
export class NodeReader extends SdkReaderClass {
  constructor(
    client: SdkClient,
    log: SdkLog | undefined,
    validation?: object,
    genesisHeight?: number,
    priority?: number,
    props?: object,
    private readonly receipts = new BlockReceipts(),
  ) {
    super(client, log, validation, genesisHeight, priority, props)
  }

  override async getBlockBatch(numbers: number[], withTransactions: boolean) {
    const blocks = await super.getBlockBatch(numbers, withTransactions)
    const right = blocks.map((block, place) => (block?.height === numbers[place] ? block : undefined))
    if (right.includes(undefined)) await delay(retryMs)
    return right
  }

  override async getBlockByHash(hash: string, withTransactions: boolean) {
    const block = await super.getBlockByHash(hash, withTransactions)
    return block?.hash === hash ? block : null
  }

  override async addLogs(blocks: readonly SdkNodeBlock[]): Promise<void> {
    const [first, ...others] = blocks
    if (!first) return
    // Alone, so that a node without receipts is not asked for all of them to find out.
    const isRead = new Map([[first, await this.#readReceipts(first)]])
    await Promise.all(others.map(async (block) => isRead.set(block, await this.#readReceipts(block))))
    const rest = blocks.filter((block) => !isRead.get(block))
    if (rest.length > 0) await super.addLogs(rest)
    for (const block of rest) {
      const gap = describeGap(block)
      if (gap) markInvalid(block, gap)
    }
    if (blocks.some(({ _isInvalid }) => _isInvalid)) await delay(retryMs)
  }

  /** Reads the logs of a block from its receipts. False: they must be read by eth_getLogs. */
  async #readReceipts(block: SdkNodeBlock): Promise<boolean> {
    const read = await this.receipts.read(block, (method, params) => this.call(method, params))
    if (!read) return false
    if ('logs' in read) block.logs = read.logs
    const problem = 'logs' in read ? describeGap(block) : read.problem
    if (!problem) return true
    this.receipts.noteMisfit(block)
    if (this.receipts.isHopeless(block)) {
      this.log?.warn(`block ${block.height}: ${problem}, again and again; its logs are read by eth_getLogs`)
      return false
    }
    markInvalid(block, problem)
    return true
  }

  override withPriority(priority: number): NodeReader {
    return new NodeReader(
      this.client,
      this.log,
      this.validation,
      this.genesisHeight,
      priority,
      this.props,
      this.receipts,
    )
  }
}

/** Marks a block as invalid in the fields that the SDK's readers use, so that it is asked for again. */
function markInvalid(block: SdkNodeBlock, problem: string) {
  block._isInvalid = true
  block._errorMessage = problem
}
