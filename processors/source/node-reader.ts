import { setTimeout as delay } from 'node:timers/promises'
import { describeGap } from './node-logs.ts'
import { type SdkClient, type SdkNodeBlock, SdkReaderClass } from './sdk.ts'
import type { SdkLog } from './sdk-log.ts'

/** Before a node is asked once more for what it did not have, or not whole. */
const retryMs = 200

/**
 * The SDK's reader of a node's blocks, which asks again for what cannot be the truth about a block: another block than
 * the one asked for, and logs that are not all there. The SDK asserts the order of blocks itself, and of logs only that
 * there are some.
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
    await super.addLogs(blocks)
    for (const block of blocks) {
      const gap = describeGap(block)
      if (gap) markInvalid(block, gap)
    }
    if (blocks.some(({ _isInvalid }) => _isInvalid)) await delay(retryMs)
  }

  override withPriority(priority: number): NodeReader {
    return new NodeReader(this.client, this.log, this.validation, this.genesisHeight, priority, this.props)
  }
}

/** Blocks are the records that the SDK's readers fill in and mark; a marked one is asked for again. */
function markInvalid(block: SdkNodeBlock, problem: string) {
  block._isInvalid = true
  block._errorMessage = problem
}
