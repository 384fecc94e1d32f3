import type { ChainSettings } from '../chains.file.ts'
import type { Queryable } from '../db/pool.ts'
import { type BackfillRange, backfillsWithin, holdReservations } from '../db/queries/chain/backfill.ts'
import type { SettledBlocks } from './mapping/settle-blocks.ts'

/** Ranges of blocks whose settlements are not asked for, because a backfill loads them. */
export type Backfilled = readonly { readonly fromBlock: number; readonly toBlock: number }[]

/**
 * What is left to write when a backfill loads some of the blocks. To be called in the transaction that writes it: no
 * backfill can reserve blocks before that ends.
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

/** The parts of a range that no backfill loads, ascending; `to` undefined: without an end. */
export function gapsBetween(from: number, ranges: readonly Pick<BackfillRange, 'fromBlock' | 'toBlock'>[]) {
  const gaps: { from: number; to?: number }[] = []
  let next = from
  for (const { fromBlock, toBlock } of ranges.toSorted((a, b) => a.fromBlock - b.fromBlock)) {
    if (fromBlock > next) gaps.push({ from: next, to: fromBlock - 1 })
    next = Math.max(next, toBlock + 1)
  }
  return [...gaps, { from: next }]
}
