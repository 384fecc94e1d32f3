import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { ChainSettings } from '../../config/chains.file.ts'
import { isLockFailure } from '../../db/lock-retry.ts'
import { inTransaction, type Queryable } from '../../db/pool.ts'
import { holdReservations } from '../../db/queries/chain/backfill.ts'
import { dropTable } from '../../db/queries/chain/reset.ts'
import { copyRemaining, copyToStaging, countUncopied, nextToCopy } from '../../db/queries/chain/staging-copies.ts'
import {
  indexQuickly,
  lockMaintenance,
  lockPartition,
  readStaging,
  replacePartition,
  type StagingTable,
} from '../../db/queries/chain/staging-partitions.ts'
import { boundRange } from '../../db/queries/rollup/cursor.ts'
import { limitLockWait } from '../../db/queries/server/transaction-settings.ts'

type Chain = Pick<ChainSettings, 'name' | 'id'>

/** Rows that are copied by one transaction. */
const chunkRows = 50_000
/** Rows that the exchange may move while readers wait: some tens of milliseconds. */
const maxRemainingRows = 5_000
/**
 * Lock timeout of the exchange: readers and the processor queue behind its three waits, so it gives up early and
 * retries.
 */
const lockWaitMs = 250
/** Lock timeout while nobody waits behind it; Postgres cancels an autovacuum in the way after a second. */
const maintenanceWaitMs = 5_000
const lockPauseMs = 2_000
const maxAttempts = 300

/**
 * Replaces a partition by the staging table that was loaded for it. Before anybody reads the table, it gets its indexes
 * and a copy of the partition's rows that no longer change; then one short transaction, for which readers wait, copies
 * the few remaining rows and exchanges the two. Idempotent: may be repeated after any interruption.
 */
export async function placePartition(pool: pg.Pool, chain: Chain, staging: StagingTable): Promise<void> {
  await copySettled(pool, chain, staging)
  await indexQuickly(pool, chain.name, staging)
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    await copySettled(pool, chain, staging)
    try {
      if (await exchange(pool, chain, staging)) return
    } catch (error) {
      if (!isLockFailure(error) || attempt === maxAttempts) throw error
    }
    await delay(lockPauseMs)
  }
  throw new Error(`${staging.partition} receives more rows than can be copied; run the command again later`)
}

/** Copies the partition's rows that no longer change, one chunk per transaction. */
async function copySettled(pool: pg.Pool, chain: Chain, staging: StagingTable): Promise<void> {
  for (let isDone = false; !isDone; ) {
    isDone = await inTransaction(pool, async (client) => {
      await holdReservations(client, chain.id) // nothing of it is taken back meanwhile
      const range = await nextToCopy(client, chain.name, staging)
      if (!range) return true
      const toBlock = await boundRange(client, chain.name, range, chunkRows)
      await copyToStaging(client, chain.name, staging, { ...range, toBlock })
      return false
    })
  }
}

/**
 * Drops the staging tables of a backfill; call it before its reservation is deleted. A worker whose
 * backfill was killed may be about to commit: dropping waits for it, and afterwards it finds no reservation.
 */
export async function dropStaging(db: Queryable, backfillId: number): Promise<void> {
  for (const { table } of await readStaging(db, backfillId)) await dropTable(db, table)
}

/** Exchanges the table and its partition; false: so many rows are left to copy that readers would wait too long. */
function exchange(pool: pg.Pool, chain: Chain, staging: StagingTable): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    await holdReservations(client, chain.id)
    await limitLockWait(client, maintenanceWaitMs)
    await lockMaintenance(client, staging.partition)
    if ((await countUncopied(client, chain.name, staging, maxRemainingRows + 1)) > maxRemainingRows) return false
    await limitLockWait(client, lockWaitMs)
    await lockPartition(client, staging.partition)
    await copyRemaining(client, chain.name, staging)
    await replacePartition(client, staging)
    return true
  })
}
