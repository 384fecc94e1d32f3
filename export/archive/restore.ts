import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { from as copyFrom } from 'pg-copy-streams'
import { inTransaction } from '../../db/pool.ts'
import {
  archivePieces,
  attachPartition,
  createApart,
  deleteArchive,
  readArchives,
  type StoredArchive,
} from '../../db/queries/chain/archive.ts'
import { settlementStorage } from '../../db/queries/chain/partitions-ahead.ts'
import { copySettlementsInto } from '../../db/queries/chain/settlement-copy.ts'
import {
  addBounds,
  addKey,
  analyze,
  indexHot,
  indexRecipients,
  indexSenders,
} from '../../db/queries/chain/settlement-partitions.ts'
import { differences } from '../../processors/backfill/verify.ts'
import { Refusal } from '../../processors/refusal.ts'
import { type Archive, finishArchives, underLocks } from './archive.ts'
import { copyOfFiles, tallyFiles } from './day-files.ts'

/** Reads the files of all archived partitions and compares them with what was archived. Throws a Refusal when they differ. */
export async function checkArchives(archive: Archive): Promise<void> {
  for (const stored of await readArchives(archive.pool, archive.chain.name)) {
    archive.print(`${stored.name}: ${await checkFiles(archive, stored)} settlements are in the files, as archived`)
  }
}

async function checkFiles({ pool, chain, folder }: Archive, stored: StoredArchive): Promise<number> {
  let settlements = 0
  for (const { fromBlock, toBlock, ...sums } of await archivePieces(pool, chain.name, stored)) {
    const found = await tallyFiles(folder, chain.name, { fromBlock, toBlock })
    const wrong = differences(sums as never, found)
    if (wrong.length > 0) {
      throw new Refusal(`the files under ${folder} of blocks ${fromBlock} to ${toBlock}: ${wrong.join('; ')}`)
    }
    settlements += found.settlements
  }
  return settlements
}

/**
 * Restores the newest archived partition from the served files while readers and writers go on. An interrupted run can
 * be started again. False: nothing is archived. Throws a Refusal when the files differ from what was archived.
 */
export async function restoreNewest(archive: Archive): Promise<boolean> {
  const { pool, chain, folder, print } = archive
  await finishArchives(archive)
  const newest = (await readArchives(pool, chain.name)).at(-1)
  if (!newest) return false
  const { name, fromBlock, toBlock } = newest
  const settlements = await checkFiles(archive, newest)
  await createApart(pool, name, settlementStorage)
  await inTransaction(pool, (client) =>
    pipeline(Readable.from(copyOfFiles(folder, chain.name, newest)), client.query(copyFrom(copySettlementsInto(name)))),
  )
  await inTransaction(pool, async (db) => {
    await indexRecipients(db, name)
    await indexSenders(db, name)
    await indexHot(db, name)
    await addBounds(db, chain.name, { partition: name, aside: name, firstBlock: fromBlock, lastBlock: toBlock })
    await addKey(db, name)
  })
  await analyze(pool, name)
  await underLocks(archive, async (db) => {
    await attachPartition(db, chain.name, newest)
    await deleteArchive(db, chain.name, newest)
  })
  print(`${name}: ${settlements} settlements are in the database again`)
  return true
}
