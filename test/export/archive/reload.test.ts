import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../../../db/pool.ts'
import { readArchives, recordArchive, storeArchiveSums } from '../../../db/queries/chain/archive.ts'
import { finishArchives } from '../../../export/archive/archive.ts'
import { runArchive } from '../../../export/archive/run.ts'
import { tallyTable } from '../../../processors/backfill/verify.ts'
import { type LoadRun, chain as loaded, startLoadRun } from '../../processors/backfill/load-run.ts'
import { exportFolder } from '../../support/exports.ts'
import { runMain } from '../../support/mains.ts'
import { archiveOf, serve, settlementsOf, task } from './world.ts'

let run: LoadRun
beforeAll(async () => {
  run = await startLoadRun()
})
afterAll(() => run?.end())

test('an archive whose table is dropped and whose files are lost is read from the chain again, if that has the same rows', async () => {
  const database = await run.database()
  const { pool } = database
  expect((await run.load(database)).code).toBe(0)
  const before = await settlementsOf(database)
  expect(before).toHaveLength(loaded.settlements)
  // No further than the source has blocks, which real partitions that are sealed never reach beyond.
  const partition = { name: 'settlement_base_0000', fromBlock: 0, toBlock: loaded.lastBlock }
  const lost = await exportFolder()
  // As the command goes on once it has proven the files, which then are lost.
  await inTransaction(pool, async (db) => {
    const tally = await tallyTable(db, 'base', { firstBlock: 0, lastBlock: partition.toBlock })
    await storeArchiveSums(db, 'base', partition)
    await recordArchive(db, 'base', partition, partition.toBlock, [{ ...partition, ...tally! }])
  })
  await finishArchives(archiveOf(database, lost), partition.name)
  expect(await settlementsOf(database)).toEqual([])

  const way = 'npm run archive -- --chain base --restore --reload'
  await expect(runArchive(archiveOf(database, lost), task('check'))).rejects.toThrow(way)
  await expect(runArchive(archiveOf(database, lost), task('restore'))).rejects.toThrow(way)
  await pool.query(`insert into settlement_hour_total values ('base', $1, false, 1, 1)`, [
    new Date(loaded.source.header(loaded.firstBlock).timestamp * 1_000),
  ])
  await expect(serve(database, lost)).rejects.toThrow(way)
  const reload = () =>
    runMain('export/archive/main.ts', ['--chain', 'base', '--restore', '--reload'], {
      env: { ...run.environment(database), EXPORT_DIR: lost },
    })
  await pool.query('update settlement_archive_piece set amount = amount + 1')
  const refused = await reload()
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('are not as archived (amount is ')])
  expect(await settlementsOf(database)).toEqual([])
  expect(await readArchives(pool, 'base')).toHaveLength(1)

  await pool.query('update settlement_archive_piece set amount = amount - 1')
  const { code, stdout, stderr } = await reload()
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toBe(`${partition.name}: ${before.length} settlements are in the database again\n`)
  expect(await settlementsOf(database)).toEqual(before)
  expect(await readArchives(pool, 'base')).toEqual([])
})
