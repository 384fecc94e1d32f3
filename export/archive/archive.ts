import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { ChainSettings } from '../../config/chains.file.ts'
import type { BlockRange } from '../../db/block-range.ts'
import { isLockFailure, type LockRetry, retryLocked } from '../../db/lock-retry.ts'
import { connectionTimeouts, inTransaction, type Queryable, sessionOf } from '../../db/pool.ts'
import {
  type ArchivePiece,
  type BlockPartition,
  detachPartition,
  finishDetaching,
  lockDetachment,
  noteDropped,
  readArchives,
  recordArchive,
  storeArchiveSums,
} from '../../db/queries/chain/archive.ts'
import { lockReservations } from '../../db/queries/chain/backfill.ts'
import { dropTable } from '../../db/queries/chain/reset.ts'
import { lockRollup } from '../../db/queries/rollup/cursor.ts'
import { allowLargeSums, limitLockWait } from '../../db/queries/server/transaction-settings.ts'
import { Refusal } from '../../ops/cli.ts'
import { addTally, emptyTally, type Tally } from '../../processors/backfill/row-pages.ts'
import { differences, tallyStored, tallyTable } from '../../processors/backfill/verify.ts'
import { type Candidate, examine } from './candidates.ts'
import { checkFiles, tallyFiles } from './day-files.ts'

export interface Archive {
  readonly pool: pg.Pool
  readonly databaseUrl: string
  readonly chain: ChainSettings
  /** Folder of the served files, EXPORT_DIR. */
  readonly folder: string
  /**
   * Writes the chain's served files of days up to `untilDay` (`2026-11-21`) that are missing or out of date, and those
   * with blocks of `rewrite` in any case.
   */
  readonly serve: (untilDay: string, rewrite?: BlockRange) => Promise<unknown>
  /** The settlements of some blocks, read from the chain's source again, as the bytes of a COPY into their table. */
  readonly readAgain: (range: BlockRange) => AsyncIterable<Buffer>
  /** Prints a line of progress for the operator. */
  readonly print: (line: string) => void
}

/**
 * Archives a partition: drops it from the database after reading the served files of its days back and checking that
 * they have exactly its rows, and that these match the certificates. Nothing is changed before that. Once the archive
 * is recorded, an interrupted run is completed by `finishArchives`. Throws a Refusal when the partition is not sealed,
 * or when something differs.
 */
export async function archivePartition(archive: Archive, partition: BlockPartition): Promise<void> {
  const { pool, chain, folder, print } = archive
  const { name } = partition
  const candidate = await examine(pool, chain, partition)
  refuseUnsealed(candidate)
  if (candidate.lastAt) await archive.serve(candidate.lastAt.toISOString().slice(0, 10))
  const pieces = await provenPieces(archive, candidate)
  const sum = pieces.reduce(addTally, emptyTally())
  print(`${name}: ${sum.settlements} settlements are in the files under ${folder}, and as certified`)
  await inTransaction(pool, async (db) => {
    await allowLargeSums(db)
    const { settlements, amount } = await storeArchiveSums(db, chain.name, candidate)
    if (settlements !== sum.settlements || amount !== sum.amount) throw new Refusal(`${name} changed; try again later`)
  })
  await underLocks(archive, async (db) => {
    const now = await examine(db, chain, partition)
    refuseUnsealed(now)
    if (JSON.stringify(now.certified) !== JSON.stringify(candidate.certified)) {
      throw new Refusal(`the certificates of ${name} changed; run the command again`)
    }
    await recordArchive(db, chain.name, partition, now.sealedTo, pieces)
  })
  await finishArchives(archive, name)
}

const lockRetry: LockRetry = { lockTimeoutMs: 500, pauseMs: 1_000, totalMs: 600_000 }

/** Runs `work` in one transaction that locks out backfills, resets of the chain and the roll-up. */
export function underLocks({ pool, chain }: Archive, work: (db: pg.PoolClient) => Promise<void>): Promise<void> {
  return retryLocked(lockRetry, () =>
    inTransaction(pool, async (db) => {
      await limitLockWait(db, lockRetry.lockTimeoutMs)
      await lockReservations(db, chain.id)
      await lockRollup(db, chain.name)
      await work(db)
    }),
  )
}

function refuseUnsealed({ name, fromBlock, toBlock, obstacles }: Candidate): void {
  if (obstacles.length === 0) return
  throw new Refusal(`${name} (blocks ${fromBlock} to ${toBlock}) is not sealed: ${obstacles.join('; ')}`)
}

/**
 * The partition in pieces with their sums, split where certificates end. Throws a Refusal unless table, files and
 * certificates agree.
 */
async function provenPieces(archive: Archive, candidate: Candidate): Promise<ArchivePiece[]> {
  const { pool, chain } = archive
  const { fromBlock, toBlock, sealedTo, certified } = candidate
  const begins = new Set([fromBlock, ...certified.flatMap(({ firstBlock, lastBlock }) => [firstBlock, lastBlock + 1])])
  const starts = [...begins].filter((block) => block >= fromBlock && block <= toBlock).sort((a, b) => a - b)
  const pieces: ArchivePiece[] = []
  for (const [at, first] of starts.entries()) {
    const range = { fromBlock: first, toBlock: (starts[at + 1] ?? toBlock + 1) - 1 }
    pieces.push({ ...range, ...(await provenTally(archive, candidate, range)) })
  }
  // The rest of the last day is in a file that nobody can write again once the day has archived rows.
  if (sealedTo > toBlock) await provenTally(archive, candidate, { fromBlock: toBlock + 1, toBlock: sealedTo })
  for (const { by, firstBlock, lastBlock, settlements, amount, checksum } of certified) {
    const found = await inTransaction(pool, (client) => tallyStored(client, chain.name, { firstBlock, lastBlock }))
    const isEqual =
      found?.settlements === settlements && String(found.amount) === amount && String(found.checksum) === checksum
    if (isEqual) continue
    throw new Refusal(
      `blocks ${firstBlock} to ${lastBlock} do not match what the ${by} certified: ` +
        (by === 'backfill'
          ? `npm run backfill -- --chain ${chain.name} --from <block> --to <block> --verify tells more`
          : `npm run reset -- --chain ${chain.name} --to ${firstBlock - 1} has them read again`),
    )
  }
  return pieces
}

/**
 * Totals of a block range that the table and the files agree on. Files that differ, or that cannot be read, are written
 * again, once: a day's rows and sums may be as they were when its file was written, so that no round writes it again.
 * Throws a Refusal when they still differ.
 */
async function provenTally(archive: Archive, { name, lastAt }: Candidate, range: BlockRange): Promise<Tally> {
  const { pool, chain, folder, print } = archive
  const blocks = `blocks ${range.fromBlock} to ${range.toBlock}`
  const shard = { firstBlock: range.fromBlock, lastBlock: range.toBlock }
  const table = await inTransaction(pool, (client) => tallyTable(client, chain.name, shard))
  if (!table) throw new Refusal(`${name}: a row of ${blocks} has another shape than a settlement`)
  const compare = async () => differences({ ...shard, ...table } as never, await tallyFiles(folder, chain.name, range))
  const isEqual = await compare().then(
    (wrong) => wrong.length === 0,
    () => false, // what still cannot be read when it is written again throws below
  )
  if (isEqual) return table
  print(`${name}: the files of ${blocks} do not match the table and are written again`)
  if (lastAt) await archive.serve(lastAt.toISOString().slice(0, 10), range)
  const wrong = await compare()
  if (wrong.length === 0) return table
  throw new Refusal(
    `the files of ${blocks} do not match the table (${wrong.join('; ')}), and writing them again did not help. A day that ` +
      `is archived in part is not written again: bring its rows back with npm run archive -- --chain ${chain.name} ` +
      '--restore, then run this command again',
  )
}

/** Lock timeout of a detachment. It waits for transactions that use the table, and blocks nobody meanwhile. */
const detachWaitMs = 600_000
const pauseMs = 1_000

/**
 * Detaches and drops the tables of recorded archives, resuming wherever an earlier run was interrupted. Since then the
 * folder may have been lost, or be another one: a table that is still there is dropped only once its files are read
 * back. `proven`: name of the partition whose files this run has just read. Throws a Refusal when the files differ from
 * what was archived; the table stays.
 */
export async function finishArchives(archive: Archive, proven?: string): Promise<void> {
  const { pool, chain, folder, print } = archive
  for (const stored of await readArchives(pool, chain.name)) {
    const { name, fromBlock } = stored
    if (stored.isDropped) continue
    if (stored.table !== 'gone' && name !== proven) {
      await checkFiles(pool, { folder, chain: chain.name }, stored).catch((error) => {
        if (!(error instanceof Refusal)) throw error
        const back = `npm run archive -- --chain ${chain.name} --restore`
        throw new Refusal(`${error.message}; or take ${name} back, which needs no files: ${back}`)
      })
    }
    await detachTable(archive, name)
    await underLocks(archive, async (db) => {
      const { table, isDropped } = await readRecorded(db, chain.name, name)
      if (isDropped) return
      if (table !== 'apart' && table !== 'gone') throw new Refusal(`${name} changed; run the command again`)
      await dropTable(db, name)
      await noteDropped(db, chain.name, fromBlock)
    })
    print(`${name} is out of the database`)
  }
}

/** Detaches the table of a recorded archive, or ends its detachment; nothing happens when it is apart or gone. */
export async function detachTable({ databaseUrl, chain }: Archive, name: string): Promise<void> {
  const client = new pg.Client({
    connectionString: sessionOf(databaseUrl, { isPatient: true }),
    application_name: `archive ${chain.name}`,
    options: `-c lock_timeout=${detachWaitMs}`,
    ...connectionTimeouts(0),
  })
  client.on('error', () => {})
  await client.connect()
  try {
    // Held by the session: a detachment may go on for a while after its command was killed.
    await lockDetachment(client, chain.id)
    for (let isApart = false; !isApart; ) isApart = await step(client, chain.name, name)
  } finally {
    await client.end()
  }
}

/** One attempt to detach the table. True: it is no longer a partition; false: try again. */
async function step(client: pg.Client, chain: string, name: string): Promise<boolean> {
  const { table } = await readRecorded(client, chain, name)
  if (table === 'apart' || table === 'gone') return true
  try {
    await (table === 'pending' ? finishDetaching : detachPartition)(client, chain, name)
  } catch (error) {
    if (!isLockFailure(error)) throw error
    await delay(pauseMs)
  }
  return false
}

/** The record of an archive. Throws a Refusal when a restore has taken the partition back meanwhile. */
async function readRecorded(db: Queryable, chain: string, name: string) {
  const stored = (await readArchives(db, chain)).find((one) => one.name === name)
  if (!stored) throw new Refusal(`${name} is no longer recorded as archived: a restore took it back meanwhile`)
  return stored
}
