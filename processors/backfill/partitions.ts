import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { inTransaction, type Queryable } from '../../db/pool.ts'
import { dropTable } from '../../db/queries/chain/reset.ts'
import {
  type AsidePartition,
  addBounds,
  addKey,
  analyze,
  indexHot,
  indexRecipients,
  isIndexed,
  limitLockWait,
  lockPartition,
  moveRows,
  raiseIndexMemory,
  readAside,
  replacePartition,
} from '../../db/queries/chain/settlement-partitions.ts'

/** Memory for building an index. */
const indexMemoryMegabytes = 256
/** Readers and the processor wait behind whoever waits for the partition, so not for long; then it is tried again. */
const lockWaitMs = 1_000
const [lockPauseMs, maxLockAttempts] = [2_000, 300]
const lockNotAvailable = '55P03'

/**
 * Puts a loaded table in the place of its partition: indexes first, while nobody sees it; then, in one short
 * transaction, what the processor has written to the partition meanwhile, and the exchange. May be repeated after any
 * interruption.
 */
export async function placePartition(pool: pg.Pool, chain: string, aside: AsidePartition): Promise<void> {
  if (!(await isIndexed(pool, aside.aside))) {
    await inTransaction(pool, async (client) => {
      await raiseIndexMemory(client, indexMemoryMegabytes)
      await indexRecipients(client, aside.aside)
      await indexHot(client, aside.aside)
      await addBounds(client, chain, aside)
      await addKey(client, aside.aside)
    })
    await analyze(pool, aside.aside)
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return await exchange(pool, aside)
    } catch (error) {
      if ((error as { code?: string }).code !== lockNotAvailable || attempt === maxLockAttempts) throw error
      await delay(lockPauseMs)
    }
  }
}

/**
 * Drops what a backfill has loaded aside; to be called before its reservation is deleted. A worker whose backfill was killed
 * may be about to commit: it is waited for here, and finds no reservation afterwards.
 */
export async function dropAside(db: Queryable, backfillId: number): Promise<void> {
  for (const { aside } of await readAside(db, backfillId)) await dropTable(db, aside)
}

async function exchange(pool: pg.Pool, aside: AsidePartition): Promise<void> {
  await inTransaction(pool, async (client) => {
    await limitLockWait(client, lockWaitMs)
    await lockPartition(client, aside.partition)
    await moveRows(client, aside)
    await replacePartition(client, aside)
  })
}
