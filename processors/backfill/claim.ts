import type pg from 'pg'
import type { ChainSettings } from '../../chains.file.ts'
import { inTransaction, type Queryable } from '../../db/pool.ts'
import {
  type BackfillRange,
  backfillsWithin,
  insertBackfill,
  insertShards,
  lockClaims,
} from '../../db/queries/backfill.ts'
import { readChainState } from '../../db/queries/chain-state.ts'
import { createAside, emptyPartitions } from '../../db/queries/settlement-partitions.ts'
import { Refusal } from '../refusal.ts'

export interface Range {
  readonly fromBlock: number
  readonly toBlock: number
}

/** Shards end before a multiple of so many blocks, where the archives' own chunks are likely to end too. */
const alignment = 10_000
/** A long range is cut into more shards than workers, because payments are not spread evenly over a chain. */
const [shardsPerWorker, longShardBlocks] = [4, 250_000]

/**
 * Makes a range of blocks this backfill's: the chain's processor leaves their settlements alone from then on, and
 * another backfill that meets the range is refused. The same range again is the same backfill.
 *
 * Throws a Refusal when the range meets another backfill's, or blocks whose settlements the processor has indexed.
 */
export async function claimRange(
  pool: pg.Pool,
  chain: ChainSettings,
  range: Range,
  workers: number,
): Promise<{ id: number; isNew: boolean; isComplete: boolean }> {
  const { fromBlock, toBlock } = range
  return inTransaction(pool, async (client) => {
    await lockClaims(client, chain.id)
    const others = await backfillsWithin(client, chain.name, fromBlock, toBlock)
    const same = others.find((other) => other.fromBlock === fromBlock && other.toBlock === toBlock)
    if (same) return { id: same.id, isNew: false, isComplete: same.completedAt !== null }
    refuseOverlap(chain, range, others)
    await refuseIndexed(client, chain, range)
    const id = await insertBackfill(client, chain.name, fromBlock, toBlock)
    await insertShards(client, id, cutRange(range, workers))
    for (const partition of await emptyPartitions(client, chain.name, fromBlock, toBlock)) {
      await createAside(client, id, partition)
    }
    return { id, isNew: true, isComplete: false }
  })
}

/** The backfill of exactly these blocks. Throws a Refusal that names those that meet them. */
export async function findBackfill(db: Queryable, { name }: ChainSettings, { fromBlock, toBlock }: Range) {
  const ranges = await backfillsWithin(db, name, fromBlock, toBlock)
  const found = ranges.find((one) => one.fromBlock === fromBlock && one.toBlock === toBlock)
  if (found) return found
  const known = ranges.map((one) => `${one.fromBlock} to ${one.toBlock}`).join(', ')
  throw new Refusal(`there is no backfill of exactly these blocks of ${name}${known ? `; there is ${known}` : ''}`)
}

/** Cuts a range into shards of about the same length. */
export function cutRange({ fromBlock, toBlock }: Range, workers: number) {
  const blocks = toBlock - fromBlock + 1
  const many = workers * shardsPerWorker
  const count = blocks >= many * longShardBlocks ? many : Math.min(workers, blocks)
  const length = Math.ceil(blocks / count)
  const unit = length >= 2 * alignment ? alignment : 1
  const shards: { firstBlock: number; lastBlock: number }[] = []
  for (let firstBlock = fromBlock; firstBlock <= toBlock; ) {
    const end = Math.round((firstBlock + length) / unit) * unit - 1
    const lastBlock = shards.length === count - 1 ? toBlock : Math.min(end, toBlock)
    shards.push({ firstBlock, lastBlock })
    firstBlock = lastBlock + 1
  }
  return shards
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

async function refuseIndexed(db: Queryable, chain: ChainSettings, { fromBlock, toBlock }: Range) {
  const state = await readChainState(db, chain.name)
  const first = Math.min(...chain.tokens.map((token) => token.fromBlock))
  if (!state || fromBlock > state.indexedBlock || toBlock < first) return
  throw new Refusal(
    `blocks ${fromBlock} to ${toBlock} of ${chain.name} overlap what its processor has indexed itself, ` +
      `${first} to ${state.indexedBlock}; choose blocks above ${state.indexedBlock}${first > 0 ? ` or below ${first}` : ''}`,
  )
}
