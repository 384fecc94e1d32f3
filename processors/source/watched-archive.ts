import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { ChainSettings } from '../../config/chains.file.ts'
import type { BlockPlace } from '../continuity.ts'
import type { Progress } from '../progress.ts'
import type { SdkArchive, SdkNode } from './sdk.ts'

interface WatchedArchiveOptions {
  readonly chain: Pick<ChainSettings, 'name'>
  /** The chain's node; undefined: history only. */
  readonly node: SdkNode | undefined
  readonly progress: Progress
  /** Newest block whose rows will not be undone. */
  readonly final: () => BlockPlace | undefined
  readonly log: Pick<Logger, 'warn'>
}

/** Milliseconds to wait for the archive's height before the node goes on alone, where it can. */
const timeoutMs = 15_000
/** Most blocks that the node reads alone, one by one; when more are missing, the archive is waited for. */
const maxNodeBlocks = 20_000

/**
 * An archive whose height is noted as progress. A processor that is near the head needs none: while the archive is down
 * its node carries the tip on.
 */
export class WatchedArchive implements SdkArchive {
  constructor(
    private readonly archive: SdkArchive,
    private readonly options: WatchedArchiveOptions,
  ) {}

  async getHeight(): Promise<number> {
    const answered = new AbortController()
    const asked = this.archive.getHeight().then((height) => {
      this.options.progress.seeArchive(height)
      return height
    })
    try {
      return await Promise.race([asked, this.#withoutArchive(asked, answered.signal)])
    } finally {
      answered.abort()
    }
  }

  query(query: object) {
    return this.archive.query(query)
  }

  /** The last final block when the node can go on alone: the archive has nothing to do. Else the archive's answer. */
  async #withoutArchive(asked: Promise<number>, signal: AbortSignal): Promise<number> {
    const { chain, node, final, log } = this.options
    const block = final()
    if (!node || !block) return asked
    await delay(timeoutMs, undefined, { signal }).catch(() => {})
    if (signal.aborted) return asked
    const head = Number(await node.call('eth_blockNumber'))
    if (!(head - block.height <= maxNodeBlocks)) return asked
    log.warn(`${chain.name}: the archive does not report its height: the node goes on alone from block ${block.height}`)
    return block.height
  }
}
