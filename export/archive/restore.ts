import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { from as copyFrom } from 'pg-copy-streams'
import { inTransaction, type Queryable } from '../../db/pool.ts'
import {
  attachPartition,
  createApart,
  deleteArchive,
  keepDetachmentsAway,
  readArchives,
} from '../../db/queries/chain/archive.ts'
import { settlementStorage } from '../../db/queries/chain/partitions/settlement-partitions.ts'
import { copySettlementsInto } from '../../db/queries/chain/settlement-copy.ts'
import { addBounds, indexQuickly } from '../../db/queries/chain/staging-partitions.ts'
import { Refusal } from '../../ops/cli.ts'
import { type Archive, detachTable, finishArchives, underLocks } from './archive.ts'
import { checkFiles, checkTable, copyOfFiles } from './day-files.ts'

/** Reads the files of all archived partitions and compares them with what was archived. Throws a Refusal when they differ. */
export async function checkArchives({ pool, chain, folder, print }: Archive): Promise<void> {
  for (const stored of await readArchives(pool, chain.name)) {
    const settlements = await checkFiles(pool, { folder, chain: chain.name }, stored)
    print(`${stored.name}: ${settlements} settlements are in the files, as archived`)
  }
}

/**
 * Restores the newest archived partition while readers and writers go on: from its own table while that stands, else
 * from the served files, or with `reload` from the chain's source. An interrupted run can be started again. False: nothing
 * is archived. Throws a Refusal when the rows differ from what was archived.
 */
export async function restoreNewest(archive: Archive, reload = false): Promise<boolean> {
  const { pool, chain, folder, print } = archive
  if (await keepTable(archive)) return true
  await finishArchives(archive)
  const newest = (await readArchives(pool, chain.name)).at(-1)
  if (!newest) return false
  const { name, fromBlock, toBlock } = newest
  if (!reload) await checkFiles(pool, { folder, chain: chain.name }, newest)
  const rows = reload ? archive.readAgain(newest) : copyOfFiles(folder, chain.name, newest)
  await createApart(pool, name, settlementStorage)
  await inTransaction(pool, (client) =>
    pipeline(Readable.from(rows), client.query(copyFrom(copySettlementsInto(name)))),
  )
  await indexQuickly(pool, chain.name, { partition: name, table: name, firstBlock: fromBlock, lastBlock: toBlock })
  const from = reload ? `the source of ${chain.name} has other rows` : undefined
  const settlements = await checkTable(pool, chain.name, newest, from)
  await underLocks(archive, async (db) => {
    await attachPartition(db, chain.name, newest)
    await deleteArchive(db, chain.name, newest)
  })
  print(`${name}: ${settlements} settlements are in the database again`)
  return true
}

/**
 * Takes the table of the newest archive back if it was never dropped, whatever became of its files. False: it is gone.
 * Throws a Refusal when a table that has left the chain's has not the rows it left with.
 */
async function keepTable(archive: Archive): Promise<boolean> {
  const { pool, chain, print } = archive
  const readNewest = async (db: Queryable) => (await readArchives(db, chain.name)).at(-1)
  const newest = await readNewest(pool)
  if (!newest || newest.isDropped || newest.table === 'gone') return false
  const { name, fromBlock, toBlock } = newest
  const hasLeft = newest.table !== 'attached'
  if (hasLeft) {
    await detachTable(archive, name)
    await checkTable(pool, chain.name, newest)
    await addBounds(pool, chain.name, { partition: name, table: name, firstBlock: fromBlock, lastBlock: toBlock })
  }
  await underLocks(archive, async (db) => {
    if (!(await keepDetachmentsAway(db, chain.id)))
      throw new Refusal(`${name} is being detached; run the command again`)
    const now = await readNewest(db)
    if (now?.name !== name || now.isDropped || now.table !== (hasLeft ? 'apart' : 'attached'))
      throw new Refusal(`${name} changed; run the command again`)
    if (hasLeft) await attachPartition(db, chain.name, newest)
    await deleteArchive(db, chain.name, newest)
  })
  print(`${name} was still in the database, and is no longer taken for archived`)
  return true
}
