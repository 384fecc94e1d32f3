import type pg from 'pg'
import type { ChainSettings } from '../../chains.file.ts'
import { inTransaction, type Queryable } from '../../db/pool.ts'
import {
  type BackfillRange,
  backfillsWithin,
  insertBackfill,
  insertShards,
  lockReservations,
} from '../../db/queries/chain/backfill.ts'
import { readChainState } from '../../db/queries/chain/chain-state.ts'
import { ensurePartitions } from '../../db/queries/chain/partitions-ahead.ts'
import { createAside, emptyPartitions } from '../../db/queries/chain/settlement-partitions.ts'
import { refuseArchived } from '../archived.ts'
import { Refusal } from '../refusal.ts'

export interface Range {
  readonly fromBlock: number
  readonly toBlock: number
}

export interface Reservation extends Range {
  readonly id: number
  readonly isNew: boolean
  readonly isComplete: boolean
}

/** Shards end before a multiple of so many blocks, where the archives' own chunks are likely to end too. */
const alignment = 10_000
/** A long range is cut into more shards than workers, because payments are not spread evenly over a chain. */
const shardsPerWorker = 4
const longShardBlocks = 250_000
/** Work of reading a block without settlements; that of one settlement is 1. */
const workOfBlock = 0.02

/**
 * Makes a range of blocks this backfill's: the chain's processor leaves their settlements alone from then on, and
 * another backfill that meets the range is refused. The same range again is the same backfill. What the processor has
 * indexed of it stays the processor's: the backfill begins behind.
 *
 * `density`: as for `cutRange`. Throws a Refusal when the range meets another backfill's, and when the processor has
 * indexed all of it, or some of it is archived.
 */
export async function reserveRange(
  pool: pg.Pool,
  chain: ChainSettings,
  range: Range,
  workers: number,
  density?: readonly number[],
): Promise<Reservation> {
  return inTransaction(pool, async (client) => {
    await lockReservations(client, chain.id)
    const own = await behindProcessor(client, chain, range)
    const others = await backfillsWithin(client, chain.name, range.fromBlock, range.toBlock)
    const same = sameBackfill(others, range, own)
    if (same) return { ...same, isNew: false, isComplete: same.completedAt !== null }
    await refuseArchived(client, chain, range.fromBlock)
    const { fromBlock, toBlock } = own
    if (fromBlock > toBlock) {
      refuseOverlap(chain, range, others)
      throw new Refusal(
        `blocks ${range.fromBlock} to ${toBlock} of ${chain.name} are indexed by its processor already, which is at ` +
          `block ${fromBlock - 1}: there is nothing to load`,
      )
    }
    refuseOverlap(chain, own, await backfillsWithin(client, chain.name, fromBlock, toBlock))
    const id = await insertBackfill(client, chain.name, fromBlock, toBlock)
    await insertShards(client, id, cutRange(own, workers, density))
    await ensurePartitions(client, chain.name, toBlock)
    for (const partition of await emptyPartitions(client, chain.name, fromBlock, toBlock)) {
      await createAside(client, id, partition)
    }
    return { id, fromBlock, toBlock, isNew: true, isComplete: false }
  })
}

/** The backfill that loads these blocks. Throws a Refusal that names those that meet them. */
export async function findBackfill(db: Queryable, chain: ChainSettings, range: Range) {
  const { name } = chain
  const ranges = await backfillsWithin(db, name, range.fromBlock, range.toBlock)
  const found = sameBackfill(ranges, range, await behindProcessor(db, chain, range))
  if (found) return found
  const known = ranges.map((one) => `${one.fromBlock} to ${one.toBlock}`).join(', ')
  throw new Refusal(`there is no backfill of exactly these blocks of ${name}${known ? `; there is ${known}` : ''}`)
}

/**
 * Cuts a range into shards of about the same work. `density`: settlements a block in each of so many equal parts of
 * the range; none: it is taken to be the same everywhere.
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

/** How many of the blocks are before the end of a share of the work. */
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

/** The part of a range that the processor has not indexed itself; it may be empty. Blocks below every token belong to nobody. */
async function behindProcessor(db: Queryable, chain: ChainSettings, range: Range): Promise<Range> {
  const state = await readChainState(db, chain.name)
  const first = Math.min(...chain.tokens.map((token) => token.fromBlock))
  if (!state || range.fromBlock > state.indexedBlock || range.toBlock < first) return range
  return { fromBlock: state.indexedBlock + 1, toBlock: range.toBlock }
}

/** A backfill of these blocks, or of all of them that the processor had not indexed when it began. */
function sameBackfill(others: readonly BackfillRange[], range: Range, own: Range): BackfillRange | undefined {
  const [other] = others
  if (!other || others.length > 1 || other.toBlock !== range.toBlock) return undefined
  const isBehind =
    other.fromBlock > range.fromBlock && other.fromBlock <= own.fromBlock && own.fromBlock > range.fromBlock
  return other.fromBlock === range.fromBlock || isBehind ? other : undefined
}
