import type { ChainSettings } from '../../config/chains.file.ts'
import type { StoredBlock } from '../../db/queries/chain/final-blocks.ts'
import { Refusal } from '../../ops/cli.ts'
import type { FinalChain } from './reader.ts'

/**
 * The block to go back to: `height`, when the indexed chain and the source's are known to agree up to there; otherwise
 * the newest block below it that was recorded as final and is still on the source's chain.
 *
 * `remembered`: the blocks that were recorded as final, descending. Throws a Refusal when none is still on the chain,
 * and when the chain is the same behind `height` but the source does not show that block.
 */
export async function findTarget(
  chain: ChainSettings,
  height: number,
  remembered: readonly StoredBlock[],
  source: Pick<FinalChain, 'hashOf'>,
): Promise<StoredBlock> {
  const isOnChain = async (block: StoredBlock) => (await source.hashOf(block.height)) === block.hash
  const common = await firstThat(remembered, isOnChain)
  if (common && common.height >= height) {
    const hash = await source.hashOf(height)
    if (hash) return { height, hash }
    // Not `common` instead: what is above the block asked for must not stay.
    const other = remembered.find((block) => block.height < height) ?? (remembered.at(-1) as StoredBlock)
    throw new Refusal(
      `${chain.name}: its sources do not show block ${height}; ask one that does, or choose another block, such as ${other.height}`,
    )
  }
  if (common) return common
  const oldest = remembered.at(-1)
  const blocks = oldest
    ? `none of the final blocks that are remembered, down to ${oldest.height}, is`
    : 'no final block is'
  throw new Refusal(
    `${chain.name}: ${blocks} known to be on the chain that its sources report, so it cannot be reset to a block. ` +
      'If they report the right chain, delete everything of it and have it read again: ' +
      `npm run reset -- --chain ${chain.name} --all`,
  )
}

/** Binary search for the first element that holds; all elements after one that holds must hold too. */
async function firstThat<T>(list: readonly T[], holds: (element: T) => Promise<boolean>): Promise<T | undefined> {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (await holds(list[middle] as T)) high = middle
    else low = middle + 1
  }
  return list[low]
}
