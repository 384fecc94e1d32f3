import type { ChainSettings } from '../chains.file.ts'
import { Refusal } from './refusal.ts'
import type { SdkHotSource, SdkSource } from './sdk.ts'

/** A block whose rows will not be undone. */
export interface FinalBlock {
  readonly height: number
  readonly hash: string
}

/**
 * Makes a source tell apart what only an operator can repair: a block that was written as final and is no longer on
 * the chain. `final` is the newest of these; undefined while there is none.
 */
export function guardFinality<S extends SdkSource & Partial<SdkHotSource>>(
  source: S,
  chain: ChainSettings,
  final: () => FinalBlock | undefined,
): S {
  const getBlockHash = source.getBlockHash.bind(source)
  source.getBlockHash = async (height) => {
    const hash = await getBlockHash(height)
    const block = final()
    if (block?.height === height && block.hash !== hash) throw deepReorg(chain, block, hash)
    return hash
  }
  const processHotBlocks = source.processHotBlocks?.bind(source)
  if (processHotBlocks) {
    source.processHotBlocks = async (...args) => {
      try {
        await processHotBlocks(...args)
      } catch (error) {
        // The SDK asserts that a fork begins above the final block and says no more; the chain itself knows.
        const block = final()
        if ((error as NodeJS.ErrnoException).code === 'ERR_ASSERTION' && block) await source.getBlockHash(block.height)
        throw error
      }
    }
  }
  return source
}

export function deepReorg(chain: ChainSettings, block: FinalBlock, found: string | undefined): Refusal {
  const { name, finalityConfirmation } = chain
  const target = Math.max(block.height - finalityConfirmation, 0)
  const now = found ? `is now ${found}` : 'is not there any more'
  return new Refusal(
    `${name}: block ${block.height} was indexed as final with hash ${block.hash} and ${now}: ` +
      `a reorg deeper than ${finalityConfirmation} blocks, or a source of another chain; ` +
      `if the chain really changed, run: npm run reset -- --chain ${name} --to ${target}`,
  )
}
