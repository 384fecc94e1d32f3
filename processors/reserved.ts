import { events } from '../abi/generated/dollar-token.ts'
import type { ChainSettings } from '../chains.file.ts'
import type { Queryable } from '../db/pool.ts'
import { type BackfillRange, backfillsWithin, holdReservations } from '../db/queries/chain/backfill.ts'
import type { settleBlocks } from './mapping/settle-blocks.ts'
import type { ArchiveQuery } from './portal/query.ts'
import type { Backfilled } from './source/request.ts'
import type { SdkArchive } from './source/sdk.ts'

type Settled = Awaited<ReturnType<typeof settleBlocks>>

/**
 * What is left to write when a backfill loads some of the blocks. To be called in the transaction that writes it: no
 * backfill can reserve blocks before that ends.
 */
export async function withoutBackfilled(db: Queryable, chain: ChainSettings, settled: Settled): Promise<Settled> {
  const { settlements, unpaid } = settled
  const numbers = [...settlements, ...unpaid].map(({ blockNumber }) => blockNumber)
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
  return { settlements: settlements.filter(isOurs), unpaid: unpaid.filter(isOurs) }
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

/**
 * An archive that is not asked for settlements of blocks which a backfill has reserved, also while the processor runs. A
 * question ends where a reservation begins or ends.
 */
export function unreserved(
  archive: SdkArchive,
  reservedFrom: ((block: number) => Promise<Backfilled>) | undefined,
): SdkArchive {
  if (!reservedFrom) return archive
  return {
    getHeight: () => archive.getHeight(),
    async query(query: ArchiveQuery) {
      if (query.fromBlock === query.toBlock || !query.logs?.some(asksForSettlements)) return archive.query(query)
      const [next] = await reservedFrom(query.fromBlock)
      return archive.query(next ? outside(query, next) : query)
    },
  }
}

function outside(query: ArchiveQuery, { fromBlock, toBlock }: Backfilled[number]): ArchiveQuery {
  const end = (block: number) => Math.min(query.toBlock ?? block, block)
  if (query.fromBlock < fromBlock) return { ...query, toBlock: end(fromBlock - 1) }
  return { ...query, toBlock: end(toBlock), logs: query.logs?.filter((logs) => !asksForSettlements(logs)) }
}

function asksForSettlements(logs: { readonly topic0?: readonly string[] }): boolean {
  return logs.topic0?.includes(events.AuthorizationUsed.topic) === true
}
