import type pg from 'pg'
import type { ChainSettings } from '../../config/chains.file.ts'
import { firstPaidBlock } from '../../config/chains.row.ts'
import { maxBlock, maxRangeEnd } from '../../db/block-range.ts'
import { isLockFailure, type LockRetry, retryLocked } from '../../db/lock-retry.ts'
import { inTransaction, type Queryable } from '../../db/pool.ts'
import { deleteAuditsAbove } from '../../db/queries/chain/audit.ts'
import { type BackfillRange, backfillsWithin, lockReservations, readShards } from '../../db/queries/chain/backfill.ts'
import { deleteWithin } from '../../db/queries/chain/block-rows.ts'
import { type ChainState, writeChainState } from '../../db/queries/chain/chain-state.ts'
import { noteFinalBlock, type StoredBlock } from '../../db/queries/chain/final-blocks.ts'
import { tallyPaymentsWithin } from '../../db/queries/chain/payments/payments.ts'
import {
  deleteBackfillsAbove,
  deleteChainState,
  deleteFinalBlocksAbove,
  deleteNewestSettlements,
  deleteRegistrationsChangedAbove,
  deleteSums,
  dropSchema,
  insertMetadata,
  insertRegistrations,
  markPlace,
  moveCursorBack,
  restoreFeedbackRevokedAbove,
  returnToPlace,
  shortenBackfill,
  truncateSettlements,
} from '../../db/queries/chain/reset.ts'
import { deleteScope } from '../../db/queries/chain/scope.ts'
import { deleteCopies } from '../../db/queries/chain/staging-copies.ts'
import { lockPayments, rewindRollup, subtractFromRollup } from '../../db/queries/rollup/cursor.ts'
import { limitLockWait } from '../../db/queries/server/transaction-settings.ts'
import { Refusal } from '../../ops/cli.ts'
import { minute, second } from '../../ops/time.ts'
import { emptyTally } from '../backfill/row-pages.ts'
import { dropStaging } from '../backfill/staging-placement.ts'
import { tallyStored } from '../backfill/verify.ts'
import { refuseArchived } from '../checks.ts'
import { stateSchema } from '../store/database.ts'
import { jsonPages } from '../store/json-rows.ts'
import { lockBackfill } from '../store/lock.ts'
import type { Registrations } from './registrations.ts'

/** Settlements deleted by one statement, about. */
const settlementsPerStep = 20_000

const lockRetry: LockRetry = { lockTimeoutMs: second, pauseMs: 2 * second, totalMs: 15 * minute }

/**
 * Takes a chain's tables back to a block, in one transaction. `older`: the registrations that changed above the block,
 * as they were at it. Returns how many settlements were deleted. Backfills above the block lose their reservations, and
 * one that contains it is cut off there.
 *
 * Throws a Refusal when blocks above it are archived, when one of these backfills is running, and when one that began
 * at or below it is not complete: the processor would skip what it has not loaded.
 */
export function resetTo(
  pool: pg.Pool,
  chain: ChainSettings,
  state: ChainState,
  block: StoredBlock,
  older: Registrations,
): Promise<number> {
  const { name } = chain
  return inTransaction(pool, async (db) => {
    const backfills = await holdBackfills(db, chain, block.height + 1)
    await refuseArchived(db, chain, block.height + 1)
    refuseUnfinished(chain, backfills, block.height)
    if (firstPaidBlock(chain) !== null) await lockPayments(db, name)
    const settlements = await deleteSettlementsAbove(db, name, block.height)
    await deleteWithin(db, name, { fromBlock: block.height + 1, toBlock: maxBlock })
    await rewindRollup(db, name, block.height + 1)
    for (const backfill of backfills.filter(({ fromBlock }) => fromBlock <= block.height)) {
      await shorten(db, chain, backfill, block)
    }
    for (const { id } of backfills) await dropStaging(db, id) // a complete one has none
    await deleteBackfillsAbove(db, name, block.height)
    await deleteCopies(db, name, { fromBlock: block.height + 1, toBlock: maxRangeEnd })
    await deleteAuditsAbove(db, name, block.height)
    await restoreFeedbackRevokedAbove(db, name, block.height)
    await deleteRegistrationsChangedAbove(db, name, block.height)
    for (const rows of jsonPages(older.registrations)) await insertRegistrations(db, rows)
    for (const rows of jsonPages(older.metadata)) await insertMetadata(db, rows)
    await deleteFinalBlocksAbove(db, name, block.height)
    await noteFinalBlock(db, name, block)
    await moveCursorBack(db, stateSchema(chain), block)
    const { height } = block
    // Without a time, which also tells the next processor that what was loaded by recipient above the block is gone.
    await writeChainState(db, { ...state, indexedBlock: height, indexedAt: null, finalizedBlock: height })
    return settlements
  })
}

/** Deletes the settlements above a block, the newest first, and takes them off the sums. Returns how many there were. */
async function deleteSettlementsAbove(db: Queryable, chain: string, height: number): Promise<number> {
  let count = 0
  for (let toBlock = maxBlock; toBlock > height; ) {
    const gone = await deleteNewestSettlements(db, chain, { fromBlock: height + 1, toBlock }, settlementsPerStep)
    await subtractFromRollup(db, chain, gone)
    count += gone.length
    toBlock = gone.reduce((first, { block }) => Math.min(first, block), toBlock) - 1
    if (gone.length < settlementsPerStep) break
  }
  return count
}

/** Deletes a chain's rows: its next processor starts over. Throws a Refusal when one of its backfills is running. */
export function resetAll(pool: pg.Pool, chain: ChainSettings): Promise<void> {
  const { name } = chain
  return inTransaction(pool, async (db) => {
    const backfills = await holdBackfills(db, chain, 0)
    await refuseArchived(db, chain, 0)
    for (const { id } of backfills) await dropStaging(db, id)
    if (firstPaidBlock(chain) !== null) {
      await lockPayments(db, name)
      await rewindRollup(db, name, 0)
      await deleteSums(db, name)
    }
    await deleteBackfillsAbove(db, name, -1)
    await deleteWithin(db, name, { fromBlock: 0, toBlock: maxBlock })
    await deleteAuditsAbove(db, name, -1)
    await deleteRegistrationsChangedAbove(db, name, -1)
    await deleteFinalBlocksAbove(db, name, -1)
    await deleteChainState(db, name)
    await deleteScope(db, name)
    await dropSchema(db, stateSchema(chain))
    if (chain.tokens.length > 0) await emptySettlements(db, name)
  })
}

/**
 * Truncates the chain's settlements, as the last step of the transaction: from here to its end every reader of them
 * waits. While it waits for a long reader, others queue behind it, so its lock timeout is short and it is retried.
 */
async function emptySettlements(db: Queryable, name: string) {
  await retryLocked(lockRetry, async () => {
    await markPlace(db)
    try {
      await limitLockWait(db, lockRetry.lockTimeoutMs)
      await truncateSettlements(db, name)
    } catch (error) {
      if (isLockFailure(error)) await returnToPlace(db)
      throw error
    }
  })
}

/** Cuts a backfill off at a block: it keeps its rows up to there, with their certificate and their sums. */
async function shorten(db: pg.PoolClient, { name }: ChainSettings, { id }: BackfillRange, block: StoredBlock) {
  const cut = (await readShards(db, id)).find(
    ({ firstBlock, lastBlock }) => firstBlock <= block.height && block.height < lastBlock,
  )
  const tally = cut && (await tallyStored(db, name, { firstBlock: cut.firstBlock, lastBlock: block.height }))
  if (cut && !tally) throw new Refusal(`${name}: a row below block ${block.height} has another shape than those loaded`)
  const left = { fromBlock: cut?.firstBlock ?? 0, toBlock: cut ? block.height : -1 }
  await shortenBackfill(db, id, block, { ...(tally ?? emptyTally()), ...(await tallyPaymentsWithin(db, name, left)) })
}

/** Throws a Refusal for an incomplete backfill that begins at or below a block: nobody would load what it lacks. */
function refuseUnfinished({ name }: ChainSettings, backfills: readonly BackfillRange[], height: number) {
  const open = backfills.find(({ completedAt, fromBlock }) => completedAt === null && fromBlock <= height)
  if (!open) return
  const { fromBlock, toBlock } = open
  throw new Refusal(
    `a backfill of ${name} has not loaded all of blocks ${fromBlock} to ${toBlock}; run it again with ` +
      `--from ${fromBlock} --to ${toBlock}, or reset the chain with ${fromBlock > 0 ? `--to ${fromBlock - 1} or ` : ''}--all`,
  )
}

/** Locks and returns the backfills that reach `from` or above; until the transaction ends none begins or resumes. */
async function holdBackfills(db: Queryable, chain: ChainSettings, from: number) {
  await lockReservations(db, chain.id)
  const backfills = await backfillsWithin(db, chain.name, from, maxBlock)
  for (const { id, fromBlock, toBlock } of backfills) {
    if (await lockBackfill(db, id)) continue
    throw new Refusal(`a backfill of ${chain.name}, blocks ${fromBlock} to ${toBlock}, is running; stop it first`)
  }
  return backfills
}
