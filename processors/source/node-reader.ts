import { setTimeout as delay } from 'node:timers/promises'
import { hideAddresses } from '../../hosts/host.ts'
import { isAnswer, Seldom } from '../../hosts/retries.ts'
import { BlockReceipts, type ReadLogs, readSingleReceipts } from './block-receipts.ts'
import { LogMisfits, type Way, ways } from './log-misfits.ts'
import { describeGap, lacksBloom } from './node-logs.ts'
import { type SdkClient, type SdkNodeBlock, type SdkNodeLog, SdkReaderClass } from './sdk.ts'
import type { SdkLog } from './sdk-log.ts'

/** What the readers of one node share. */
interface ReaderOptions {
  /** Whether the chain's logs blooms are compared with its logs. */
  readonly bloom: boolean
  /** Called when logs are taken although the block's logs bloom tells of more. */
  readonly onBloom: () => void
  readonly receipts: BlockReceipts
  readonly misfits: LogMisfits
  readonly seldom: Seldom
}

/** Milliseconds before a node is asked again for what was missing or incomplete. */
const retryMs = 200
const beyondBloom = "the node left out logs that the block's logs bloom tells of"

/**
 * The SDK's reader of a node's blocks, which asks again for what cannot be the truth about a block: another block than
 * the one asked for, and logs that are not all there or are not numbered as they stand. The SDK asserts the order of
 * blocks itself, and of logs only that there are some. Logs come from the block's receipts where the node has them, else
 * from eth_getLogs, and where those stay wrong or are refused from the receipts of the single transactions.
 *
 * Not checked: that a block's hash is the hash of its content.
 */
export class NodeReader extends SdkReaderClass {
  constructor(
    client: SdkClient,
    log: SdkLog | undefined,
    private readonly options: ReaderOptions,
    validation?: object,
    genesisHeight?: number,
    priority?: number,
    props?: object,
  ) {
    super(client, log, validation, genesisHeight, priority, props)
  }

  /** A reader of a node. `bloom` and `onBloom`: as in its options. */
  static of(client: SdkClient, log: SdkLog, bloom: boolean, onBloom: () => void): NodeReader {
    const shared = { receipts: new BlockReceipts(), misfits: new LogMisfits(), seldom: new Seldom() }
    return new NodeReader(client, log, { bloom, onBloom, ...shared })
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
    const search = rest.filter((block) => !this.options.misfits.isHopeless(block, 'eth_getLogs'))
    const left = new Set([...rest.filter((block) => !search.includes(block)), ...(await this.#search(search))])
    for (const block of left) await this.#readSingly(block)
    if (blocks.some(({ _isInvalid }) => _isInvalid)) await delay(retryMs)
  }

  /** Reads the logs of a block from its receipts. False: they must be read another way. */
  async #readReceipts(block: SdkNodeBlock): Promise<boolean> {
    const { misfits, receipts } = this.options
    if (misfits.isHopeless(block, 'eth_getBlockReceipts')) return false
    const read = await receipts.read(block, (method, params) => this.call(method, params))
    return read !== undefined && this.#isSettled(block, 'eth_getBlockReceipts', read)
  }

  /** Reads logs by eth_getLogs, block by block when the node refuses them together. Returns the blocks not read so. */
  async #search(blocks: readonly SdkNodeBlock[]): Promise<SdkNodeBlock[]> {
    const { seldom } = this.options
    const first = blocks[0]
    const last = blocks.at(-1)
    if (!first || !last) return []
    let logs: readonly SdkNodeLog[]
    try {
      logs = await this.getLogs(first.height, last.height)
    } catch (error) {
      if (!isAnswer(error)) throw error
      if (first !== last) return (await Promise.all(blocks.map((block) => this.#search([block])))).flat()
      const reason = hideAddresses((error as Error).message)
      if (seldom.isDue('eth_getLogs')) {
        this.log?.warn(`block ${first.height}: eth_getLogs is refused: ${reason}; receipts are read one by one`)
      }
      return [first]
    }
    const logsOf = ({ hash }: SdkNodeBlock) => logs.filter(({ blockHash }) => blockHash === hash)
    return blocks.filter((block) => !this.#isSettled(block, 'eth_getLogs', { logs: logsOf(block) }))
  }

  async #readSingly(block: SdkNodeBlock): Promise<void> {
    const way = 'eth_getTransactionReceipt'
    const read = await readSingleReceipts(block, (calls) => this.batchCall(calls))
    if (this.#isSettled(block, way, read)) return
    this.options.misfits.forget(block)
  }

  /** Takes the logs of a block, or marks it as invalid. False: they were wrong too often to be read this way. */
  #isSettled(block: SdkNodeBlock, way: Way, read: ReadLogs): boolean {
    const { misfits, seldom } = this.options
    if ('logs' in read) block.logs = read.logs
    const problem = 'logs' in read ? (describeGap(block) ?? this.#describeBloom(block, way)) : read.problem
    if (!problem) {
      block._isInvalid = false
      return true
    }
    misfits.note(block, way)
    markInvalid(block, problem)
    if (!misfits.isHopeless(block, way)) return true
    const next = ways[ways.indexOf(way) + 1]
    if (next && seldom.isDue(next))
      this.log?.warn(`block ${block.height}: ${problem}, again and again; its logs are read by ${next}`)
    return false
  }

  #describeBloom(block: SdkNodeBlock, way: Way): string | undefined {
    const { bloom, misfits, onBloom, seldom } = this.options
    if (!bloom || !lacksBloom(block)) return undefined
    if (!misfits.agree(block, way, block.logs ?? [])) return beyondBloom
    onBloom()
    if (!seldom.isDue('bloom')) return undefined
    this.log?.warn(
      `block ${block.height}: its logs bloom tells of more than its logs, which two methods of the node agree on; ` +
        'they are taken ("bloom": false in CHAINS_FILE ends the comparison)',
    )
    return undefined
  }

  override withPriority(priority: number): NodeReader {
    return new NodeReader(
      this.client,
      this.log,
      this.options,
      this.validation,
      this.genesisHeight,
      priority,
      this.props,
    )
  }
}

/** Marks a block as invalid in the fields that the SDK's readers use, so that it is asked for again. */
function markInvalid(block: SdkNodeBlock, problem: string) {
  block._isInvalid = true
  block._errorMessage = problem
}
