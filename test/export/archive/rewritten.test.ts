import { createHash } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../../../db/pool.ts'
import { type BlockPartition, partitionsBefore } from '../../../db/queries/chain/archive.ts'
import { archivePartition } from '../../../export/archive/archive.ts'
import { tallyFiles } from '../../../export/archive/day-files.ts'
import { runArchive } from '../../../export/archive/run.ts'
import { describeError } from '../../../ops/cli.ts'
import { tallyTable } from '../../../processors/backfill/verify.ts'
import type { OwnDatabase } from '../../support/database.ts'
import { exportFolder } from '../../support/exports.ts'
import { archiveOf, archiveWorld, recountAll, serve, servedIn, settlementsOf, task } from './world.ts'

// Files that are not what the table has, although the rows and sums of their day are as when they were written.

let database: OwnDatabase
beforeAll(async () => {
  database = await archiveWorld()
})
afterAll(() => database?.drop())

/** Changes a row in a way that no sum of its day shows. */
const mark = (block: number, source: 'c' | 'i') =>
  database.pool.query('update settlement set selector_source = $2 where block_number = $1 and log_index = 0', [
    block,
    source,
  ])
/** A block in the archived partitions, and one behind them on the last archived day. */
const inside = 30_420_000
const behind = 31_000_010
/** The blocks behind the archived partitions, on the last archived day. */
const rest = { fromBlock: 31_000_000, toBlock: behind }

test('a day file that is damaged, or has older rows, is written again before its partition is archived', async () => {
  const folder = await exportFolder()
  for (const block of [inside, behind]) await mark(block, 'i')
  await serve(database, folder)
  for (const block of [inside, behind]) await mark(block, 'c')
  const tables = await settlementsOf(database)
  const [first] = (await servedIn(folder)).files.filter(({ dataset }) => dataset === 'settlements')
  await writeFile(join(folder, first?.path ?? ''), 'damaged')
  expect(await serve(database, folder)).toBe(0) // nothing shows it that any of them is wrong

  await runArchive(archiveOf(database, folder), task('archive'))
  for (const { path, sha256 } of (await servedIn(folder)).files) {
    const content = await readFile(join(folder, path))
    expect(createHash('sha256').update(content).digest('hex'), path).toBe(sha256)
  }
  const shard = { firstBlock: rest.fromBlock, lastBlock: rest.toBlock }
  const stored = await inTransaction(database.pool, (db) => tallyTable(db, 'base', shard))
  expect(await tallyFiles(folder, 'base', rest)).toEqual(stored)

  const check = () => runArchive(archiveOf(database, folder), task('check'))
  const refused = async (path: string, damages: readonly (Buffer | undefined)[]) => {
    const whole = await readFile(path)
    for (const damaged of damages) {
      await (damaged ? writeFile(path, damaged) : rm(path))
      const refusal = await check().catch((error) => error)
      expect(describeError(refusal)).toMatch(
        new RegExp(`^${path} cannot be read \\([^\n]+\\): bring it back from a copy, then run the same command again$`),
      )
    }
    await writeFile(path, whole)
  }
  const written = (await servedIn(folder)).files.find(({ dataset }) => dataset === 'settlements')
  const path = join(folder, written?.path ?? '')
  const whole = await readFile(path)
  await refused(path, [undefined, Buffer.alloc(0), whole.subarray(0, -9), Buffer.from(whole).fill(0x55, 90, 99)])
  await refused(join(folder, 'manifest.json'), [Buffer.from('{"version": 1, "fi')])
  await check()

  for (let times = 0; times < 2; times++) await runArchive(archiveOf(database, folder), task('restore'))
  expect(await settlementsOf(database)).toEqual(tables)
})

test('the file of a day that is archived in part stays as it is, and the refusal says how to have it written again', async () => {
  const { pool } = database
  const folder = await exportFolder()
  await pool.query('delete from backfill_shard where first_block = 30500000') // it certifies what is changed below
  await pool.query('update chain_state set finalized_block = 32500000')
  await recountAll(database)
  await runArchive(archiveOf(database, folder), task('archive'))
  const third = (await partitionsBefore(pool, 'base', 32_000_000)).at(-1) as BlockPartition
  expect(third).toMatchObject({ fromBlock: 31_000_000, toBlock: 31_999_999 })
  await mark(behind, 'i')
  const lastDay = async () => (await servedIn(folder)).files.filter(({ partition }) => partition.day === '2019-03-03')
  const before = await lastDay()
  const files = archiveOf(database, folder)
  await expect(archivePartition(files, third)).rejects.toThrow(
    /^the files of blocks 31000000 to 31999999 do not match the table \(checksum .*npm run archive -- --chain base --restore, then/,
  )
  expect(await lastDay()).toEqual(before)

  await runArchive(files, task('restore'))
  await runArchive(files, task('archive'))
  await archivePartition(files, third)
  await runArchive(files, task('check'))
})
