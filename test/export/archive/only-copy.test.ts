import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readArchives } from '../../../db/queries/chain/archive.ts'
import { runArchive } from '../../../export/archive/run.ts'
import type { ServedFile } from '../../../export/served/manifest.ts'
import type { OwnDatabase } from '../../support/database.ts'
import { exportFolder } from '../../support/exports.ts'
import { until } from '../../support/until.ts'
import { archiveOf, archiveWorld, serve, servedIn, settlementsOf, task } from './world.ts'

// From the moment an archive is recorded, the served files count as the only copy of its rows.

let database: OwnDatabase
beforeAll(async () => {
  database = await archiveWorld()
})
afterAll(() => database?.drop())

const restoreAll = async (folder: string) => {
  for (let times = 0; times < 2; times++) await runArchive(archiveOf(database, folder), task('restore'))
}
/** Newest day with archived settlements; the rest of it is in the database. */
const lastDay = '2019-03-03'

test('a recorded partition is dropped only once its files are read back, whatever folder a later run is given', async () => {
  const { pool } = database
  const folder = await exportFolder()
  const tables = await settlementsOf(database)
  const recorded = async () => {
    const unreachable = { ...archiveOf(database, folder), databaseUrl: 'postgres://127.0.0.1:1/none' }
    await expect(runArchive(unreachable, task('archive'))).rejects.toThrow('ECONNREFUSED')
  }
  await recorded()
  const states = async () => (await readArchives(pool, 'base')).map(({ name, table }) => `${name} ${table}`)
  expect(await states()).toEqual(['settlement_base_0000 attached'])
  const empty = await exportFolder()
  const refused = async () => {
    await expect(runArchive(archiveOf(database, empty), task('archive'))).rejects.toThrow(
      new RegExp(
        `^the files under ${empty} of blocks 0 to 29999999 are not as archived \\(settlements is 0, certified 3.*; ` +
          'or take settlement_base_0000 back, which needs no files: npm run archive -- --chain base --restore$',
      ),
    )
    expect((await pool.query('select count(*)::int as n from settlement_base_0000')).rows).toEqual([{ n: 3 }])
  }
  await refused()
  expect(await settlementsOf(database)).toEqual(tables)
  // A partition that never left needs no file to be one of the chain's again.
  await runArchive(archiveOf(database, empty), task('restore'))
  expect(await states()).toEqual([])
  await serve(database, await exportFolder())

  await recorded()
  // A restore for another folder, which no lock keeps apart, takes it back while the files are read.
  const proxied = new Proxy(pool, {
    get(target, key) {
      if (key !== 'query') return Reflect.get(target, key, target)
      return async (asked: { text: string }, values?: unknown[]) => {
        const result = await target.query(asked, values as [])
        if (asked.text?.includes('from settlement_archive_piece')) {
          await runArchive(archiveOf(database, empty), task('restore'))
        }
        return result
      }
    },
  })
  await expect(runArchive({ ...archiveOf(database, folder), pool: proxied }, task('archive'))).rejects.toThrow(
    'settlement_base_0000 is no longer recorded as archived: a restore took it back meanwhile',
  )
  expect(await settlementsOf(database)).toEqual(tables)

  await recorded()
  await pool.query('alter table settlement_base detach partition settlement_base_0000')
  expect(await states()).toEqual(['settlement_base_0000 apart'])
  await refused()
  await runArchive(archiveOf(database, folder), task('archive'))
  expect(await states()).toEqual(['settlement_base_0000 gone', 'settlement_base_0030 gone'])
  await restoreAll(folder)
  expect(await settlementsOf(database)).toEqual(tables)
})

test('a table that has left and still stands is taken back without its files, if its rows are as archived', async () => {
  const { pool } = database
  const tables = await settlementsOf(database)
  const empty = await exportFolder()
  const name = 'settlement_base_0000'
  const left = async (detach: string) => {
    const unreachable = { ...archiveOf(database, await exportFolder()), databaseUrl: 'postgres://127.0.0.1:1/none' }
    await expect(runArchive(unreachable, task('archive'))).rejects.toThrow('ECONNREFUSED')
    const client = await pool.connect()
    await client.query(`set lock_timeout = '50ms'`)
    await client
      .query(`alter table settlement_base detach partition ${name} ${detach}`)
      .finally(() => client.release(true))
  }
  const restore = () => runArchive(archiveOf(database, empty), task('restore'))
  await left('')
  await pool.query(`update ${name} set selector_source = 'i'`)
  await expect(restore()).rejects.toThrow(
    /^the rows of settlement_base_0000 of blocks 0 to 29999999 are not as archived \(checksum is /,
  )
  await pool.query(`update ${name} set selector_source = 'c'`)
  await restore()
  expect(await settlementsOf(database)).toEqual(tables)
  expect(await readArchives(pool, 'base')).toEqual([])

  // A transaction that has read the table keeps the detachment from ending.
  const reader = await pool.connect()
  await reader.query('begin')
  await reader.query(`select from ${name}`)
  await expect(left('concurrently')).rejects.toThrow('lock timeout')
  expect(await readArchives(pool, 'base')).toMatchObject([{ name, table: 'pending' }])
  await reader.query('rollback')
  reader.release()
  await restore()
  expect(await settlementsOf(database)).toEqual(tables)
  // It can be archived again.
  const folder = await exportFolder()
  await runArchive(archiveOf(database, folder), task('archive'))
  await restoreAll(folder)
  expect(await settlementsOf(database)).toEqual(tables)
})

test('a list without an archived day, or with another file of it, is refused though it has rows enough', async () => {
  const folder = await exportFolder()
  const list = join(folder, 'manifest.json')
  const partsIn = async () =>
    (await readdir(folder, { recursive: true })).filter((path) => path.includes('part-')).sort()
  await runArchive(archiveOf(database, folder), task('archive'))
  await serve(database, folder)
  const whole = await readFile(list, 'utf8')
  const parts = await partsIn()
  const refused = async (change: (files: readonly ServedFile[]) => readonly ServedFile[], what: string) => {
    const { files, ...rest } = await servedIn(folder)
    const changed = JSON.stringify({ ...rest, files: change(files) })
    await writeFile(list, changed)
    await expect(serve(database, folder)).rejects.toThrow(
      `the settlements of base up to block 30999999 are archived, and ${what} are in the files listed in ${list}: bring EXPORT_DIR back`,
    )
    expect(await readFile(list, 'utf8')).toBe(changed)
    await writeFile(list, whole)
    expect(await partsIn()).toEqual(parts)
  }
  await refused(
    (files) => files.filter(({ partition }) => partition.day !== '2019-02-28'),
    '0 instead of 3 of 2019-02-28',
  )
  await refused(
    (files) => files.map((file) => (file.partition.day === '2019-03-01' ? { ...file, rows: 13 } : file)),
    '13 instead of 12 of 2019-03-01',
  )
  expect(await serve(database, folder)).toBe(0)
  await restoreAll(folder)
})

test('an archived day stays on the list though nothing behind it is summed up, as after a reset to its end', async () => {
  const { pool } = database
  const folder = await exportFolder()
  await runArchive(archiveOf(database, folder), task('archive'))
  const daysOf = async () => {
    const { files } = await servedIn(folder)
    return files.filter(({ dataset }) => dataset === 'settlements').map(({ partition }) => partition.day)
  }
  const archived = await daysOf()
  expect(archived.at(-1)).toBe(lastDay)
  await pool.query(`
    create table kept as select * from settlement_hour_total where hour >= '2019-03-04Z';
    delete from settlement_hour_total where hour >= '2019-03-04Z';
    update chain_state set indexed_at = null where chain = 'base'`)
  await serve(database, folder)
  expect(await daysOf()).toEqual(archived)
  await pool.query(`
    insert into settlement_hour_total select * from kept;
    drop table kept;
    update chain_state set indexed_at = '2019-09-01Z' where chain = 'base'`)
  await restoreAll(folder)
})

test('while a partition is being detached a restore leaves it to that command', async () => {
  const { pool } = database
  const folder = await exportFolder()
  await serve(database, folder)
  const tables = await settlementsOf(database)
  // Somebody like a vacuum, which a detachment waits for.
  const busy = await pool.connect()
  await busy.query('begin; lock table settlement_base_0000 in share update exclusive mode')
  const archived = runArchive(archiveOf(database, folder), task('archive'))
  await until('the detachment waits', async () => {
    const { rows } = await pool.query(
      `select from pg_stat_activity where application_name = 'archive base' and wait_event_type = 'Lock'`,
    )
    return rows.length > 0
  })
  await expect(runArchive(archiveOf(database, await exportFolder()), task('restore'))).rejects.toThrow(
    'settlement_base_0000 is being detached; run the command again',
  )
  await busy.query('commit')
  busy.release()
  await archived
  await restoreAll(folder)
  expect(await settlementsOf(database)).toEqual(tables)
})
