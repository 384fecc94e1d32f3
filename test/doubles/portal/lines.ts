import type { BlockSource } from './blocks.ts'
import { compileProjection } from './projection.ts'
import type { Query } from './query.ts'
import { compileSelection } from './selection.ts'

/**
 * The lines of one chunk, ascending: the blocks that hold something the query asks for, and the first and the last
 * block of the chunk whatever they hold, so that every complete line is a place to resume at.
 */
export async function* linesOfChunk(source: BlockSource, query: Query, first: number, last: number) {
  const select = compileSelection(query)
  const render = compileProjection(query)
  /** First block without a line so far. */
  let next = first
  /** Header-only lines of the empty blocks below `end` that must be there all the same. */
  function* headersUpTo(end: number) {
    if (query.includeAllBlocks) for (; next < end; next++) yield render(source.header(next))
    else if (next === first && next < end) yield render(source.header(first))
  }
  for await (const block of source.blocks(first, last)) {
    const { number } = block.header
    yield* headersUpTo(number)
    const selection = select(block)
    const matches = selection.transactions.length + selection.logs.length + selection.traces.length > 0
    if (matches || number === first || number === last || query.includeAllBlocks) yield render(block.header, selection)
    next = number + 1
  }
  yield* headersUpTo(last)
  if (next <= last) yield render(source.header(last))
}
