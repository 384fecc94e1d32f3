/** Blocks, both ends inclusive. */
export interface BlockRange {
  readonly fromBlock: number
  readonly toBlock: number
}
