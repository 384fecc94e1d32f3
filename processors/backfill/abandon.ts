import type pg from 'pg'
import type { ChainSettings } from '../../config/chains.file.ts'
import { inTransaction, type Queryable } from '../../db/pool.ts'
import { type BackfillRange, deleteBackfill, lockReservations, readShards } from '../../db/queries/chain/backfill.ts'
import { deleteWithin } from '../../db/queries/chain/block-rows.ts'
import { readChainState } from '../../db/queries/chain/chain-state.ts'
import { lastScopedBlock } from '../../db/queries/chain/scope.ts'
import { deleteCopies } from '../../db/queries/chain/staging-copies.ts'
import { Refusal } from '../../ops/cli.ts'
import { refuseArchived } from '../checks.ts'
import { lockBackfill } from '../store/lock.ts'
import { findBackfill, type Range } from './reservation.ts'
import { dropStaging } from './staging-placement.ts'

/** Tables of what a backfill loads. */
const loadedTables = ['unpaid_authorization', 'payment', 'builder_code', 'exact_amount', 'settlement'] as const

/**
 * Abandons a backfill: deletes its rows and its reservation in one transaction. Returns how many rows were deleted. The
 * chain's processor must not run: it has known the reservation since its start and would skip the blocks.
 *
 * Throws a Refusal when there is no backfill of exactly these blocks, when it is running, and when the processor has
 * skipped its blocks or loads by recipient have left them out, because then nobody would load them any more.
 */
export function abandonRange(pool: pg.Pool, chain: ChainSettings, range: Range): Promise<number> {
  const { name, id } = chain
  return inTransaction(pool, async (db) => {
    await lockReservations(db, id)
    const backfill = await findBackfill(db, chain, range)
    if (!(await lockBackfill(db, backfill.id))) {
      throw new Refusal(
        `the backfill of blocks ${range.fromBlock} to ${range.toBlock} of ${name} is running; stop it first`,
      )
    }
    await refuseArchived(db, chain, backfill.fromBlock)
    await refusePassed(db, chain, backfill)
    await refuseScoped(db, chain, backfill)
    const shards = await readShards(db, backfill.id)
    await dropStaging(db, backfill.id)
    await deleteBackfill(db, backfill.id)
    await deleteCopies(db, name, backfill)
    await deleteWithin(db, name, backfill, loadedTables)
    return shards.reduce((sum, { settlements }) => sum + settlements, 0)
  })
}

async function refusePassed(
  db: Queryable,
  { name }: ChainSettings,
  { fromBlock, toBlock, completedAt }: BackfillRange,
) {
  const state = await readChainState(db, name)
  if (!state || state.indexedBlock < fromBlock) return
  const target = Math.min(fromBlock, state.finalizedBlock) - 1
  const otherwise = completedAt ? '' : 'finish it with the same command without --abandon, or '
  throw new Refusal(
    `the processor of ${name} is at block ${state.indexedBlock} and has left the settlements of blocks ${fromBlock} ` +
      `to ${toBlock} to this backfill; ${otherwise}make it go back for them with: ` +
      `npm run reset -- --chain ${name} ${target < 0 ? '--all' : `--to ${target}`}`,
  )
}

/** Throws a Refusal when loads by recipient have left out blocks of a backfill. */
async function refuseScoped(db: Queryable, { name }: ChainSettings, { fromBlock, toBlock }: BackfillRange) {
  const block = await lastScopedBlock(db, name)
  if (block < fromBlock) return
  throw new Refusal(
    `with SETTLEMENT_SCOPE=verified ${name} is read up to block ${block}, and blocks ${fromBlock} to ${toBlock} were left ` +
      `to this backfill; read everything again with: npm run reset -- --chain ${name} --all`,
  )
}
