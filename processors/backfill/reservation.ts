import type pg from 'pg'
import type { ChainSettings } from '../../config/chains.file.ts'
import { inTransaction, type Queryable } from '../../db/pool.ts'
import {
  type BackfillRange,
  backfillsWithin,
  deleteBackfill,
  holdUnbegun,
  insertBackfill,
  lockReservations,
  replaceShards,
} from '../../db/queries/chain/backfill.ts'
import { readChainState } from '../../db/queries/chain/chain-state.ts'
import { ensurePartitions } from '../../db/queries/chain/partitions/settlement-partitions.ts'
import { createStaging, emptyPartitions } from '../../db/queries/chain/staging-partitions.ts'
import { Refusal } from '../../ops/cli.ts'
import { gapsBetween } from '../backfilled.ts'
import { refuseArchived } from '../checks.ts'
import { workOfBlock } from './estimate.ts'
import { dropStaging } from './staging-placement.ts'

export interface Range {
  readonly fromBlock: number
  readonly toBlock: number
}

export interface Reservation extends Range {
  readonly id: number
  readonly isNew: boolean
  readonly isComplete: boolean
}

/** Shards end before a multiple of this many blocks, where the archives' own chunks are likely to end too. */
const alignment = 10_000
/** A long range is cut into more shards than workers, because payments are not spread evenly over a chain. */
const shardsPerWorker = 4
const longShardBlocks = 250_000

/** A processor reads so many blocks before its registry itself, in minutes; a longer history is left to a backfill. */
const shortHistoryBlocks = 50_000

/**
 * Reserves a range of blocks for a backfill: from then on the chain's processor skips their settlements, and another
 * backfill that overlaps the range is refused. Reserving the same range again continues the same backfill. Blocks that
 * the processor has indexed already stay the processor's: the backfill begins behind them. Blocks of a reservation of
 * which nothing is loaded yet, and which nobody loads now, are taken from it; what is left of it stays reserved. Where the
 * processor has passed such a reservation, the backfill is of its blocks alone.
 *
 * `density`: settlements per block, as for `cutRange`. Undefined: the processor has indexed all of the range. Throws a
 * Refusal when the range overlaps another backfill's, and when some of it is archived.
 */
export async function reserveRange(
  pool: pg.Pool,
  chain: ChainSettings,
  range: Range,
  workers: number,
  density?: readonly number[],
): Promise<Reservation | undefined> {
  return inTransaction(pool, async (client) => {
    await lockReservations(client, chain.id)
    const behind = await behindProcessor(client, chain, range)
    const others = await backfillsWithin(client, chain.name, range.fromBlock, range.toBlock)
    const same = sameBackfill(others, range, behind)
    if (same) {
      // Nobody may have known its density or its workers when it was reserved.
      if (await holdUnbegun(client, same.id)) await replaceShards(client, same.id, cutRange(same, workers, density))
      return { ...same, isNew: false, isComplete: same.completedAt !== null }
    }
    await refuseArchived(client, chain, range.fromBlock)
    const own = (await leftBelow(client, others, range, behind)) ?? behind
    if (own.fromBlock > own.toBlock) {
      refuseOverlap(chain, range, others)
      return undefined
    }
    const left: Range[] = []
    for (const other of others.filter((one) => one.toBlock >= own.fromBlock && one.fromBlock <= own.toBlock)) {
      if (!(await holdUnbegun(client, other.id))) refuseOverlap(chain, own, [other])
      await dropStaging(client, other.id)
      await deleteBackfill(client, other.id)
      left.push(...outside(other, own))
    }
    const id = await insertReservation(client, chain, own, cutRange(own, workers, density))
    for (const one of left) await insertReservation(client, chain, one, cutRange(one, workers))
    return { id, ...own, isNew: true, isComplete: false }
  })
}

/**
 * Reserves the settlements of the blocks before a chain's registry that nobody has reserved, for whoever will load them,
 * where these are too many (`fewest`) to be read before the first agent appears. Nothing is reserved once the processor has
 * a block. Returns the ranges that were.
 */
export async function reserveHistory(
  pool: pg.Pool,
  chain: ChainSettings,
  fewest = shortHistoryBlocks,
): Promise<Range[]> {
  const first = Math.min(...chain.tokens.map(({ fromBlock }) => fromBlock))
  const last = chain.registry.fromBlock - 1
  if (!(last - first >= fewest)) return []
  return inTransaction(pool, async (client) => {
    await lockReservations(client, chain.id)
    if (await readChainState(client, chain.name)) return []
    const gaps = gapsBetween(first, await backfillsWithin(client, chain.name, first, last))
      .map(({ from, to = last }) => ({ fromBlock: from, toBlock: Math.min(to, last) }))
      .filter(({ fromBlock, toBlock }) => fromBlock <= toBlock)
    for (const gap of gaps) await insertReservation(client, chain, gap, cutRange(gap, 1))
    return gaps
  })
}

/** Inserts a reservation with its shards, and a staging table for each partition of it that has no rows. */
async function insertReservation(
  client: pg.PoolClient,
  { name }: ChainSettings,
  { fromBlock, toBlock }: Range,
  shards: ReturnType<typeof cutRange>,
): Promise<number> {
  const id = await insertBackfill(client, name, fromBlock, toBlock)
  await replaceShards(client, id, shards)
  await ensurePartitions(client, name, toBlock)
  for (const partition of await emptyPartitions(client, name, fromBlock, toBlock))
    await createStaging(client, id, partition)
  return id
}

/** The parts of a range below and above another one that meets it. */
function outside({ fromBlock, toBlock }: Range, taken: Range): Range[] {
  const below = { fromBlock, toBlock: taken.fromBlock - 1 }
  const above = { fromBlock: taken.toBlock + 1, toBlock }
  return [below, above].filter((part) => part.fromBlock <= part.toBlock)
}

/** The backfill of these blocks. Throws a Refusal when there is none, which names the backfills that overlap them. */
export async function findBackfill(db: Queryable, chain: ChainSettings, range: Range) {
  const { name } = chain
  const ranges = await backfillsWithin(db, name, range.fromBlock, range.toBlock)
  const found = sameBackfill(ranges, range, await behindProcessor(db, chain, range))
  if (found?.toBlock === range.toBlock) return found
  const known = ranges.map((one) => `${one.fromBlock} to ${one.toBlock}`).join(', ')
  throw new Refusal(`there is no backfill of exactly these blocks of ${name}${known ? `; there is ${known}` : ''}`)
}

/**
 * Cuts a range into shards of about the same work. `density`: settlements per block in each of the equal parts of the
 * range, ascending; empty: the same everywhere.
 */
export function cutRange({ fromBlock, toBlock }: Range, workers: number, density: readonly number[] = []) {
  const blocks = toBlock - fromBlock + 1
  const many = workers * shardsPerWorker
  const count = blocks >= many * longShardBlocks ? many : Math.min(workers, blocks)
  const unit = blocks >= 2 * alignment * count ? alignment : 1
  const shards: { firstBlock: number; lastBlock: number }[] = []
  for (let cut = 1, firstBlock = fromBlock; cut <= count && firstBlock <= toBlock; cut++) {
    const end = fromBlock + endOfShare(cut / count, blocks, density)
    const aligned = Math.round(end / unit) * unit
    // Where payments are dense a shard can be shorter than the unit.
    const next = cut === count ? toBlock + 1 : Math.min(aligned - firstBlock < unit ? end : aligned, toBlock + 1)
    if (next <= firstBlock) continue
    shards.push({ firstBlock, lastBlock: next - 1 })
    firstBlock = next
  }
  return shards
}

/** Number of blocks that make up the first `share` (0 to 1) of the work. */
function endOfShare(share: number, blocks: number, density: readonly number[]): number {
  const parts = (density.length > 0 ? density : [0]).map((settlements) => settlements + workOfBlock)
  let left = share * parts.reduce((sum, work) => sum + work, 0)
  for (const [part, work] of parts.entries()) {
    if (left <= work) return Math.round(((part + left / work) * blocks) / parts.length)
    left -= work
  }
  return blocks
}

function refuseOverlap({ name }: ChainSettings, range: Range, others: readonly BackfillRange[]) {
  const [other] = others
  if (!other) return
  const state = other.completedAt
    ? 'is loaded already'
    : `is being loaded: run it again with --from ${other.fromBlock} --to ${other.toBlock} to finish it`
  throw new Refusal(
    `blocks ${range.fromBlock} to ${range.toBlock} of ${name} overlap the backfill of ${other.fromBlock} to ${other.toBlock}, which ${state}; ` +
      'choose blocks outside of it',
  )
}

/** The part of a range behind the blocks that the processor has indexed, perhaps empty; all of it below every token. */
async function behindProcessor(db: Queryable, chain: ChainSettings, range: Range): Promise<Range> {
  const state = await readChainState(db, chain.name)
  const first = Math.min(...chain.tokens.map((token) => token.fromBlock))
  if (!state || range.fromBlock > state.indexedBlock || range.toBlock < first) return range
  return { fromBlock: state.indexedBlock + 1, toBlock: range.toBlock }
}

/** The part of a range in a reservation that the processor has passed and of which nothing is loaded; undefined: none. */
async function leftBelow(
  db: Queryable,
  others: readonly BackfillRange[],
  range: Range,
  behind: Range,
): Promise<Range | undefined> {
  const left = others.find(({ toBlock }) => toBlock < behind.fromBlock)
  if (!left || !(await holdUnbegun(db, left.id))) return undefined
  return {
    fromBlock: Math.max(left.fromBlock, range.fromBlock),
    toBlock: Math.min(left.toBlock, range.toBlock),
  }
}

/** A backfill of these blocks, or of all of them that the processor had not indexed when it began. */
function sameBackfill(others: readonly BackfillRange[], range: Range, behind: Range): BackfillRange | undefined {
  const [other] = others
  if (!other || others.length > 1) return undefined
  const isBegin =
    other.fromBlock === range.fromBlock || (other.fromBlock > range.fromBlock && isPassed(other.fromBlock - 1))
  const isEnd = other.toBlock === range.toBlock || (other.toBlock < range.toBlock && isPassed(other.toBlock))
  return isBegin && isEnd ? other : undefined

  function isPassed(block: number): boolean {
    return behind.fromBlock > range.fromBlock && block < behind.fromBlock
  }
}
