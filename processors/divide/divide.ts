import type pg from 'pg'
import type { ChainSettings } from '../../chains.file.ts'
import { maxRangeEnd } from '../../db/block-range.ts'
import { type Patience, patiently } from '../../db/patience.ts'
import { inTransaction } from '../../db/pool.ts'
import { indexWithin, lockMaintenance, lockPartition } from '../../db/queries/chain/aside-partitions.ts'
import { lockReservations } from '../../db/queries/chain/backfill.ts'
import {
  beginDivision,
  copyBlocks,
  copyChanges,
  countChanges,
  dividedTable,
  divisionProgress,
  divisionState,
  dropRemains,
  exchangeTables,
  newestBlock,
  tryLockDivision,
  unlockDivision,
  writtenTo,
} from '../../db/queries/chain/partitions/division.ts'
import {
  attachRange,
  extendPartitions,
  isDivided,
  lockPartitions,
  makeTable,
  nextPartition,
  settlementStorage,
  settlementsOf,
} from '../../db/queries/chain/partitions/settlement-partitions.ts'
import { boundRange } from '../../db/queries/rollup/cursor.ts'
import { limitLockWait } from '../../db/queries/server/transaction-settings.ts'
import { Refusal } from '../refusal.ts'
import { CopyProgress } from './progress.ts'

interface Division {
  /** Without a statement timeout: the index of a partition may take long. */
  readonly pool: pg.Pool
  readonly chain: Pick<ChainSettings, 'name' | 'id' | 'partitions'>
  readonly print: (line: string) => void
  /** How long the locks of the exchange are tried for. */
  readonly patience?: Patience
}

/** Rows of one copying statement, so that progress is said often. */
const chunkRows = 50_000
/** Changed rows whose blocks are copied by one transaction. */
const chunkChanges = 20_000
/** Changed rows that the exchange may copy while readers wait: some tens of milliseconds. */
const mostLastChanges = 2_000
/** Rounds of copying what has changed, each shorter than the one before unless more changes than can be copied. */
const mostRounds = 300
/** Partitions behind the head: more than a running processor takes for made already (`PartitionsAhead`). */
const ahead = 4
/** Readers and writers queue behind the exchange's waits, of which there are two, so each is given up early. */
const usualPatience: Patience = { lockTimeoutMs: 250, pauseMs: 2_000, totalMs: 600_000 }
/** Lock timeout while nobody waits behind it; Postgres cancels an autovacuum in the way after a second. */
const maintenanceWaitMs = 5_000

/**
 * Divides a chain's one table of settlements into partitions by block, while others read and write it. Idempotent: after
 * an interruption it goes on behind the last whole partition. False: the chain was divided already. Throws a Refusal when
 * another command divides it, or when a backfill loads the whole table aside, and a lock failure when somebody holds the
 * table for longer than `patience`.
 */
export async function divideSettlements(division: Division): Promise<boolean> {
  const { pool, chain } = division
  const session = await pool.connect()
  let lost: Error | undefined
  try {
    if (!(await tryLockDivision(session, chain.id))) throw new Refusal(`${chain.name} is being divided already`)
    return await divide(division).finally(async () => {
      await unlockDivision(session, chain.id).catch((error) => {
        lost = error // the lock ends with its session
      })
    })
  } finally {
    session.release(lost)
  }
}

async function divide(division: Division): Promise<boolean> {
  const { pool, chain, print } = division
  const { name } = chain
  if (await isDivided(pool, settlementsOf(name))) {
    if (!(await divisionState(pool, name)).isExchanged) return false
  } else {
    await begin(division)
    const progress = new CopyProgress(await divisionProgress(pool, name), print)
    while (await copyPartition(division, progress));
    await patiently(division.patience ?? usualPatience, async () => {
      for (let round = 1; !(await exchange(division)); round++) {
        if (round === mostRounds)
          throw new Error(`${name} changes faster than it is copied; run the command again later`)
      }
    })
    print(`${name} is divided`)
  }
  await inTransaction(pool, (db) => dropRemains(db, name))
  return true
}

async function begin(division: Division): Promise<void> {
  const { pool, chain } = division
  const { name } = chain
  await patiently(division.patience ?? usualPatience, () =>
    inTransaction(pool, async (db) => {
      const { isBegun, isOutdated, isLoadedAside } = await divisionState(db, name)
      refuseAside(isLoadedAside, name)
      if (isBegun) return
      await limitLockWait(db, (division.patience ?? usualPatience).lockTimeoutMs)
      if (isOutdated) await dropRemains(db, name)
      await beginDivision(db, name)
    }),
  )
}

function refuseAside(isLoadedAside: boolean, name: string): void {
  if (!isLoadedAside) return
  throw new Refusal(`a backfill loads all settlements of ${name} aside: let it end, or take it back with --abandon`)
}

/** Copies the next partition and gives it its indexes, in one transaction. False: all rows are copied. */
async function copyPartition({ pool, chain, print }: Division, progress: CopyProgress): Promise<boolean> {
  const { name } = chain
  const copied = await inTransaction(pool, async (db) => {
    const next = await nextPartition(db, name, dividedTable(name))
    if (next.firstBlock > (await newestBlock(db, name))) return undefined
    await makeTable(db, next.name, `with ${settlementStorage}`)
    let rows = 0
    for (let firstBlock = next.firstBlock; firstBlock <= next.lastBlock; ) {
      const range = { fromBlock: firstBlock, toBlock: next.lastBlock }
      const lastBlock = await boundRange(db, name, range, chunkRows)
      const added = await copyBlocks(db, name, next.name, { firstBlock, lastBlock })
      rows += added
      progress.add(added)
      firstBlock = lastBlock + 1
    }
    // Analyzed too: how many blocks the next one gets depends on it.
    await indexWithin(db, name, { ...next, partition: next.name, aside: next.name })
    await attachRange(db, dividedTable(name), next)
    return { ...next, rows }
  })
  if (!copied) return false
  print(`${copied.name}: blocks ${copied.firstBlock} to ${copied.lastBlock}, ${copied.rows} rows; ${progress.text()}`)
  return true
}

/** Exchanges the two tables; false: so much changes that readers would wait too long, or it needs another partition. */
async function exchange(division: Division): Promise<boolean> {
  const { pool, chain } = division
  const { name, partitions } = chain
  await inTransaction(pool, async (db) => {
    const upTo = Math.min((await writtenTo(db, name)) + ahead * partitions.blocks, maxRangeEnd)
    await extendPartitions(db, name, dividedTable(name), upTo)
  })
  while ((await inTransaction(pool, (db) => copyChanges(db, name, chunkChanges))) === chunkChanges);
  return inTransaction(pool, async (db) => {
    await limitLockWait(db, maintenanceWaitMs)
    await lockMaintenance(db, settlementsOf(name))
    if ((await countChanges(db, name, mostLastChanges + 1)) > mostLastChanges) return false
    await limitLockWait(db, (division.patience ?? usualPatience).lockTimeoutMs)
    await lockReservations(db, chain.id)
    await lockPartitions(db, name)
    refuseAside((await divisionState(db, name)).isLoadedAside, name)
    await lockPartition(db, settlementsOf(name))
    await copyChanges(db, name, Number.MAX_SAFE_INTEGER)
    await exchangeTables(db, name)
    return true
  })
}
