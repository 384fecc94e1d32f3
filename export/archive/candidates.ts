import type pg from 'pg'
import type { ChainSettings } from '../../config/chains.file.ts'
import type { Queryable } from '../../db/pool.ts'
import {
  type BlockPartition,
  type Obstacles,
  obstaclesOf,
  partitionsBefore,
  readArchives,
  timesWithin,
} from '../../db/queries/chain/archive.ts'
import { certifiedRanges } from '../../db/queries/chain/audit.ts'
import { settlementsReached } from '../../db/queries/exports/finished-days.ts'
import { settlementStarts } from '../../db/queries/settlements/settlement-starts.ts'
import { day } from '../../ops/time.ts'

/** A certified block range. */
type Certified = Awaited<ReturnType<typeof certifiedRanges>>[number]

/** A partition that is old enough to be archived, with the reasons why it cannot be yet. */
export interface Candidate extends BlockPartition {
  /** Last block that has to be final: the last one of the newest row's UTC day, since a day is one file. */
  readonly sealedTo: number
  readonly firstAt: Date | null
  readonly lastAt: Date | null
  readonly certified: readonly Certified[]
  /** Reasons against archiving, one line each, with the command that helps; empty: the partition is sealed. */
  readonly obstacles: readonly string[]
}

/**
 * The partitions of a chain whose settlements are all older than `before` (ISO time) and which no archive is recorded
 * for, ascending.
 */
export async function candidatesOf(pool: pg.Pool, chain: ChainSettings, before: string): Promise<BlockPartition[]> {
  const { name } = chain
  const [start] = await settlementStarts(pool, { chains: [name], since: before })
  const begun = new Set((await readArchives(pool, name)).map(({ fromBlock }) => fromBlock))
  const all = await partitionsBefore(pool, name, start?.block ?? 0)
  return all.filter(({ fromBlock }) => !begun.has(fromBlock))
}

export async function examine(db: Queryable, chain: ChainSettings, partition: BlockPartition): Promise<Candidate> {
  const { name } = chain
  const { first, last } = await timesWithin(db, name, partition)
  const nextDay = last && new Date(Math.floor(last.getTime() / day) * day + day).toISOString()
  const [end] = nextDay ? await settlementStarts(db, { chains: [name], since: nextDay }) : []
  const sealedTo = Math.max(partition.toBlock, (end?.block ?? 0) - 1)
  const certified = (await certifiedRanges(db)).filter(
    ({ chain: of, firstBlock, lastBlock }) =>
      of === name && firstBlock <= partition.toBlock && lastBlock >= partition.fromBlock,
  )
  const obstacles = linesOf(chain, sealedTo, await obstaclesOf(db, name, partition, sealedTo, last))
  const reached = await settlementsReached(db, name)
  if (nextDay && !(reached && reached.toISOString() >= nextDay)) {
    const until = `${nextDay.slice(0, 10)} has not begun in what is summed up`
    obstacles.push(`${until}, so that the day before has no file: npm run processor -- ${name}, npm run enrichment`)
  }
  return { ...partition, sealedTo, firstAt: first, lastAt: last, certified, obstacles }
}

function linesOf({ name }: ChainSettings, sealedTo: number, found: Obstacles): string[] {
  const { finalizedBlock, isScoped, unaudited, loading, unrolled, keysDue } = found
  const blocks = ([from, to]: [number, number]) => `blocks ${from} to ${to}`
  const processor = `npm run processor -- ${name}`
  const lines: string[] = []
  if (isScoped)
    lines.push('with SETTLEMENT_SCOPE=verified recipients that come later need all of it: nothing is archived')
  if (finalizedBlock === null || finalizedBlock < sealedTo) {
    lines.push(`block ${sealedTo} is not indexed and final yet: ${processor}`)
  }
  if (unaudited) lines.push(`${blocks(unaudited)} are not audited yet, which the processor does: ${processor}`)
  if (loading) {
    const [from, to] = loading
    lines.push(`${blocks(loading)} are not all loaded: npm run backfill -- --chain ${name} --from ${from} --to ${to}`)
  }
  if (unrolled) lines.push(`${blocks(unrolled)} are not summed up yet: npm run enrichment`)
  if (keysDue > 0) lines.push(`income of ${keysDue} hours or payments is not summed up yet: npm run enrichment`)
  return lines
}
