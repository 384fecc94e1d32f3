import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { ChainSettings } from '../../config/chains.file.ts'
import { Refusal } from '../../ops/cli.ts'
import { type BlockPlace, Continuity } from '../continuity.ts'
import type { SdkBatch, SdkHotSource, SdkRequest, SdkSource } from './sdk.ts'

interface FinalityOptions {
  readonly chain: ChainSettings
  /** Newest block whose rows will not be undone; undefined while there is none. */
  readonly final: () => BlockPlace | undefined
  readonly log: Pick<Logger, 'warn'>
  /** Called with the last block of each batch before the batch is handed over. */
  readonly onRead?: (height: number) => void
}

/** Milliseconds that a source may lack the newest final block: one of several nodes is behind or catching up. */
const behindMs = 120_000
/** Answers with another block at that height before it counts as replaced: one of several nodes can be wrong. */
const maxForeign = 3
const askAgainMs = 500

/**
 * A source of final blocks that tells apart what only an operator can repair: a block that was written as final and is
 * no longer on the chain. It requires of final blocks that each follows the one before.
 */
export class GuardedSource implements SdkSource {
  constructor(
    private readonly source: SdkSource,
    protected readonly options: FinalityOptions,
  ) {}

  getFinalizedHeight(): Promise<number> {
    return this.source.getFinalizedHeight()
  }

  async getBlockHash(height: number): Promise<string | undefined> {
    const { chain, final, log } = this.options
    const block = final()
    const deadline = Date.now() + behindMs
    for (let foreign = 0; ; await delay(askAgainMs)) {
      const hash = await this.source.getBlockHash(height)
      if (block?.height !== height || block.hash === hash) return hash
      if (hash !== undefined) foreign++
      if (foreign === maxForeign || Date.now() > deadline) throw deepReorg(chain, block, hash)
      log.warn(`${chain.name}: the source does not show block ${height}, which is indexed as final: asking again`)
    }
  }

  getFinalizedBlocks(requests: SdkRequest[], stopOnHead: boolean): AsyncIterable<SdkBatch> {
    return following(this.source.getFinalizedBlocks(requests, stopOnHead), this.options)
  }
}

/** A source that follows the chain's head, its final blocks guarded as those of a `GuardedSource`. */
export class GuardedHotSource extends GuardedSource implements SdkHotSource {
  constructor(
    private readonly hot: SdkSource & SdkHotSource,
    options: FinalityOptions,
  ) {
    super(hot, options)
  }

  async processHotBlocks(...args: Parameters<SdkHotSource['processHotBlocks']>): Promise<void> {
    try {
      await this.hot.processHotBlocks(...args)
    } catch (error) {
      // The SDK asserts that a fork begins above the final block and says no more; the chain itself knows.
      const block = this.options.final()
      if ((error as NodeJS.ErrnoException).code === 'ERR_ASSERTION' && block) await this.getBlockHash(block.height)
      throw error
    }
  }
}

/** Passes batches on, and throws before one that does not follow the last. */
async function* following<B extends SdkBatch>(batches: AsyncIterable<B>, { chain, final, onRead }: FinalityOptions) {
  const continuity = new Continuity(`${chain.name}: the source`, final())
  for await (const batch of batches) {
    for (const { header } of batch.blocks) continuity.follow(header)
    onRead?.(batch.blocks.at(-1).header.height)
    yield batch
  }
}

export function deepReorg(chain: ChainSettings, block: BlockPlace, found: string | undefined): Refusal {
  const { name, finalityConfirmation } = chain
  const target = Math.max(block.height - finalityConfirmation, 0)
  const now = found ? `is now ${found}` : 'is not there any more'
  return new Refusal(
    `${name}: block ${block.height} was indexed as final with hash ${block.hash} and ${now}: ` +
      `a reorg deeper than ${finalityConfirmation} blocks, or a source of another chain; ` +
      `if the chain really changed, run: npm run reset -- --chain ${name} --to ${target}`,
  )
}
