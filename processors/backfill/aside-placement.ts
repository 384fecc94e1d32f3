import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { ChainSettings } from '../../chains.file.ts'
import { isLockFailure } from '../../db/patience.ts'
import { inTransaction, type Queryable } from '../../db/pool.ts'
import { copyAside, copyRest, countUncopied, nextToCopy } from '../../db/queries/chain/aside-copies.ts'
import {
  type AsidePartition,
  indexQuickly,
  lockMaintenance,
  lockPartition,
  readAside,
  replacePartition,
} from '../../db/queries/chain/aside-partitions.ts'
import { holdReservations } from '../../db/queries/chain/backfill.ts'
import { dropTable } from '../../db/queries/chain/reset.ts'
import { boundRange } from '../../db/queries/rollup/cursor.ts'
import { limitLockWait } from '../../db/queries/server/transaction-settings.ts'

type Chain = Pick<ChainSettings, 'name' | 'id'>

/** Rows that are copied by one transaction. */
const chunkRows = 50_000
/** Rows that the exchange may move while readers wait: some tens of milliseconds. */
const maxRestRows = 5_000
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
 * Replaces a partition by the table that was loaded aside for it. Before anybody reads the table, it gets its indexes
 * and a copy of the partition's rows that no longer change; then one short transaction, for which readers wait, copies
 * the few remaining rows and exchanges the two. Idempotent: may be repeated after any interruption.
 */
export async function placePartition(pool: pg.Pool, chain: Chain, aside: AsidePartition): Promise<void> {
  await copySettled(pool, chain, aside)
  await indexQuickly(pool, chain.name, aside)
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    await copySettled(pool, chain, aside)
    try {
      if (await exchange(pool, chain, aside)) return
    } catch (error) {
      if (!isLockFailure(error) || attempt === maxAttempts) throw error
    }
    await delay(lockPauseMs)
  }
  throw new Error(`${aside.partition} receives more rows than can be copied; run the command again later`)
}

/** Copies the partition's rows that no longer change, one chunk per transaction. */
async function copySettled(pool: pg.Pool, chain: Chain, aside: AsidePartition): Promise<void> {
  for (let isDone = false; !isDone; ) {
    isDone = await inTransaction(pool, async (client) => {
      await holdReservations(client, chain.id) // nothing of it is taken back meanwhile
      const range = await nextToCopy(client, chain.name, aside)
      if (!range) return true
      const toBlock = await boundRange(client, chain.name, range, chunkRows)
      await copyAside(client, chain.name, aside, { ...range, toBlock })
      return false
    })
  }
}

/**
 * Drops the tables that a backfill has loaded aside; to be called before its reservation is deleted. A worker whose
 * backfill was killed may be about to commit: dropping waits for it, and afterwards it finds no reservation.
 */
export async function dropAside(db: Queryable, backfillId: number): Promise<void> {
  for (const { aside } of await readAside(db, backfillId)) await dropTable(db, aside)
}

/** Exchanges the table and its partition; false: so many rows are left to copy that readers would wait too long. */
function exchange(pool: pg.Pool, chain: Chain, aside: AsidePartition): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    await holdReservations(client, chain.id)
    await limitLockWait(client, maintenanceWaitMs)
    await lockMaintenance(client, aside.partition)
    if ((await countUncopied(client, chain.name, aside, maxRestRows + 1)) > maxRestRows) return false
    await limitLockWait(client, lockWaitMs)
    await lockPartition(client, aside.partition)
    await copyRest(client, chain.name, aside)
    await replacePartition(client, aside)
    return true
  })
}
