/** Blocks, both ends inclusive. */
export interface BlockRange {
  readonly fromBlock: number
  readonly toBlock: number
}

/** Largest block of an int column. */
export const maxBlock = 2_147_483_647
/** Largest last block of a stored range or partition: the block after it has to fit an int column, too. */
export const maxRangeEnd = maxBlock - 1

/** How many blocks are in a range. */
export function lengthOf({ fromBlock, toBlock }: BlockRange): number {
  return toBlock - fromBlock + 1
}
