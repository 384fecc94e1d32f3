import { afterEach, expect, test } from 'vitest'
import { generatedSource } from '../../doubles/portal/generated-source.ts'
import { firstBlock, type PortalRun, runThroughPortal, token } from './run.ts'

let run: PortalRun
afterEach(() => run.end())

/** Megabytes of heap the processor gets; it needs about half of it for itself. */
const heapMb = 256
const trailingBytes = 512 * 1024
const blocks = 400

test('an answer larger than the memory is taken in pieces', async () => {
  // One answer, one chunk: 400 blocks whose lines are a megabyte each, in very little compressed data.
  const source = generatedSource({
    firstBlock,
    blocks,
    settlementsPerBlock: 1,
    token,
    trailingBytes,
    chunkBlocks: 100_000,
  })
  run = await runThroughPortal({ source, env: { NODE_OPTIONS: `--max-old-space-size=${heapMb}` } })
  await run.processor.untilIndexed(firstBlock + blocks - 1, 120_000)
  const { settlement } = await run.tables()
  expect(settlement).toHaveLength(blocks)
})
