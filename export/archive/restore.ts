import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { from as copyFrom } from 'pg-copy-streams'
import { inTransaction } from '../../db/pool.ts'
import { attachPartition, createApart, deleteArchive, readArchives } from '../../db/queries/chain/archive.ts'
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
import { type Archive, finishArchives, underLocks } from './archive.ts'
import { checkFiles, copyOfFiles } from './day-files.ts'

/** Reads the files of all archived partitions and compares them with what was archived. Throws a Refusal when they differ. */
export async function checkArchives({ pool, chain, folder, print }: Archive): Promise<void> {
  for (const stored of await readArchives(pool, chain.name)) {
    const settlements = await checkFiles(pool, { folder, chain: chain.name }, stored)
    print(`${stored.name}: ${settlements} settlements are in the files, as archived`)
  }
}

/**
 * Restores the newest archived partition from the served files while readers and writers go on. An interrupted run can
 * be started again. False: nothing is archived. Throws a Refusal when the files differ from what was archived.
 */
export async function restoreNewest(archive: Archive): Promise<boolean> {
  const { pool, chain, folder, print } = archive
  if (await keepAttached(archive)) return true
  await finishArchives(archive)
  const newest = (await readArchives(pool, chain.name)).at(-1)
  if (!newest) return false
  const { name, fromBlock, toBlock } = newest
  const settlements = await checkFiles(pool, { folder, chain: chain.name }, newest)
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

/** Forgets the newest archive if its partition was recorded and never detached: its rows are there, whatever the files. */
async function keepAttached(archive: Archive): Promise<boolean> {
  const { chain, print } = archive
  let kept = false
  await underLocks(archive, async (db) => {
    const newest = (await readArchives(db, chain.name)).at(-1)
    kept = newest?.table === 'attached'
    if (!newest || !kept) return
    await deleteArchive(db, chain.name, newest)
    print(`${newest.name} had not left the database, and is no longer taken for archived`)
  })
  return kept
}
