import type { ChainSettings } from '../config/chains.file.ts'
import type { Queryable } from '../db/pool.ts'
import { type BackfillRange, backfillsWithin, holdReservations } from '../db/queries/chain/backfill.ts'
import type { SettledBlocks } from './mapping/settle-blocks.ts'

/** Ranges of blocks whose settlements the processor does not ask for, because a backfill loads them. */
export type Backfilled = readonly { readonly fromBlock: number; readonly toBlock: number }[]

/**
 * Leaves out the rows of blocks that backfills have reserved. Call it in the transaction that writes the rest: no
 * backfill can reserve blocks before it ends.
 */
export async function withoutBackfilled(
  db: Queryable,
  chain: ChainSettings,
  settled: SettledBlocks,
): Promise<SettledBlocks> {
  const { settlements, payments, unpaid } = settled
  const numbers = [...settlements, ...payments, ...unpaid].map(({ blockNumber }) => blockNumber)
  if (numbers.length === 0) return settled
  await holdReservations(db, chain.id)
  const [first, last] = numbers.reduce(
    ([least, most], number) => [Math.min(least, number), Math.max(most, number)] as const,
    [Infinity, 0] as readonly [number, number],
  )
  const ranges = await backfillsWithin(db, chain.name, first, last)
  if (ranges.length === 0) return settled
  const isOurs = ({ blockNumber }: { blockNumber: number }) =>
    !ranges.some(({ fromBlock, toBlock }) => fromBlock <= blockNumber && blockNumber <= toBlock)
  return {
    settlements: settlements.filter(isOurs),
    payments: payments.filter(isOurs),
    unpaid: unpaid.filter(isOurs),
  }
}

/** The ranges from a block on that no backfill loads, ascending; without `to`: open-ended. */
export function gapsBetween(from: number, ranges: readonly Pick<BackfillRange, 'fromBlock' | 'toBlock'>[]) {
  const gaps: { from: number; to?: number }[] = []
  let next = from
  for (const { fromBlock, toBlock } of ranges.toSorted((a, b) => a.fromBlock - b.fromBlock)) {
    if (fromBlock > next) gaps.push({ from: next, to: fromBlock - 1 })
    next = Math.max(next, toBlock + 1)
  }
  return [...gaps, { from: next }]
}
