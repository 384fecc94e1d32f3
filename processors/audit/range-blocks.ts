import type { BlockRange } from '../../db/block-range.ts'
import { boundedFailures } from '../../hosts/retries.ts'
import type { History } from '../history/history.ts'
import { RangeReader } from '../history/range-reader.ts'
import { scannedBlock } from '../history/scanned-block.ts'
import type { ChainBlock } from '../mapping/block.ts'

/**
 * Hands over the blocks of a range in which something was found, in order. Resolves with the hashes of the first and the last block of the range, in lowercase hex.
 */
export async function readBlocks(
  history: History,
  { fromBlock, toBlock }: BlockRange,
  warn: (text: string) => void,
  use: (block: ChainBlock) => void,
): Promise<{ readonly firstHash: string; readonly lastHash: string }> {
  const reader = new RangeReader(history, fromBlock, toBlock, { warn }, { attempts: boundedFailures })
  try {
    while (!reader.isDone) {
      await reader.advance({
        addBlock: use,
        add(text, scan) {
          if (scan.transactions > 0) use(scannedBlock(text, scan))
        },
      })
    }
  } finally {
    reader.close()
  }
  return { firstHash: reader.first?.hash ?? '', lastHash: reader.lastHash ?? '' }
}
