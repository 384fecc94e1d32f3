import type { Block, BlockReference, BlockSource, Header } from './blocks.ts'

/** A source over blocks in memory that can grow, and whose finalized block can move. */
export interface MemorySource extends BlockSource {
  blocks(from: number, to: number): Iterable<Block>
  /** Adds blocks above the head and makes them final, unless `final` is false. */
  append(blocks: readonly Block[], options?: { final?: boolean }): void
}

interface MemoryOptions {
  /** Ascending by number. */
  readonly blocks: readonly Block[]
  /** First block of the dataset. Default: the first of `blocks`. */
  readonly startBlock?: number
  /** Newest final block. Default: the last of `blocks`. */
  readonly finalized?: number
  /** Blocks a chunk. */
  readonly chunkBlocks?: number
  /** Header of a block that `blocks` leaves out because it is empty. Default: none is left out. */
  readonly emptyHeader?: (number: number) => Header
}

const defaultChunkBlocks = 2_000

/** Blocks kept in memory, for a chain small enough; throws where they are not ascending. */
export function memorySource(options: MemoryOptions): MemorySource {
  const { chunkBlocks = defaultChunkBlocks, emptyHeader } = options
  const blocks: Block[] = []
  const byNumber = new Map<number, Block>()
  let finalized = -1
  const append: MemorySource['append'] = (added, { final = true } = {}) => {
    for (const block of added) {
      const { number } = block.header
      if (number <= (blocks.at(-1)?.header.number ?? -1)) throw new Error(`block ${number} is not above the head`)
      blocks.push(block)
      byNumber.set(number, block)
    }
    if (final) finalized = blocks.at(-1)?.header.number ?? -1
  }
  append(options.blocks)
  finalized = options.finalized ?? finalized
  const startBlock = options.startBlock ?? blocks[0]?.header.number ?? 0

  const header = (number: number): Header => {
    const found = byNumber.get(number)?.header ?? emptyHeader?.(number)
    if (!found) throw new Error(`the source has no block ${number} and no header for an empty one`)
    return found
  }
  const reference = (number: number): BlockReference | null =>
    number < startBlock ? null : { number, hash: header(number).hash }
  return {
    startBlock,
    append,
    header,
    head: () => reference(blocks.at(-1)?.header.number ?? -1),
    finalizedHead: () => reference(finalized),
    *blocks(from, to) {
      for (let at = firstAtOrAbove(blocks, from); at < blocks.length; at++) {
        const block = blocks[at]!
        if (block.header.number > to) return
        yield block
      }
    },
    chunkEnd: (number) => startBlock + (Math.floor((number - startBlock) / chunkBlocks) + 1) * chunkBlocks - 1,
  }
}

function firstAtOrAbove(blocks: readonly Block[], number: number): number {
  let low = 0
  let high = blocks.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (blocks[middle]!.header.number < number) low = middle + 1
    else high = middle
  }
  return low
}
