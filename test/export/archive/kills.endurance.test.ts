import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { checkArchives } from '../../../export/archive/restore.ts'
import { exportFolder } from '../../support/exports.ts'
import { endOf, runMain, startMain } from '../../support/mains.ts'
import { until } from '../../support/until.ts'
import { archiveOf, archiveWorld, before, recountAll, settlementsOf, sumsOf } from './world.ts'

/** When the command is killed, in milliseconds after it has connected to the database. */
const moments = [0, 50, 150, 400]

test('killed at any moment, in the middle of a detachment too, the same command ends it, and nothing is lost or twice', {
  timeout: 400_000,
}, async () => {
  const database = await archiveWorld()
  onTestFinished(() => database.drop())
  const { pool } = database
  const folder = await exportFolder()
  const tables = await settlementsOf(database)
  const summed = await sumsOf(database)
  const main = 'export/archive/main.ts'
  const args = ['--chain', 'base', '--before', before]
  const options = { env: { DATABASE_URL: database.url, EXPORT_DIR: folder } }
  const isAtWork = async (application: string) => {
    const { rowCount } = await pool.query(
      'select from pg_stat_activity where datname = current_database() and application_name = $1',
      [application],
    )
    return rowCount !== 0
  }
  const killed = async (isThen: () => Promise<boolean>, restMs = 0) => {
    const child = startMain(main, args, options)
    const ended = endOf(child)
    await until('it is there', async () => (await isThen()) || child.exitCode !== null)
    await delay(restMs)
    child.kill('SIGKILL')
    await ended
  }
  for (const moment of moments) {
    await killed(() => isAtWork('archive base'), moment)
    expect((await pool.query('select count(*)::int as n from settlement')).rows[0].n).toBeGreaterThanOrEqual(18)
  }
  // An open transaction keeps the detachment from completing, while others read.
  const reader = await pool.connect()
  await reader.query('begin')
  await reader.query('select count(*) from settlement')
  await killed(async () => {
    const { rows } = await pool.query('select from pg_inherits where inhdetachpending')
    return rows.length > 0 || (await settlementsOf(database)).length === 18
  })
  expect((await settlementsOf(database)).slice(-18)).toEqual(tables.slice(-18))
  await reader.query('commit')
  reader.release()

  const { code, stderr } = await runMain(main, args, options)
  expect([code, stderr]).toEqual([0, ''])
  expect(await settlementsOf(database)).toEqual(tables.slice(-18))
  await checkArchives(archiveOf(database, folder))
  await recountAll(database)
  expect(await sumsOf(database)).toEqual(summed)
  for (let times = 0; times < 2; times++) {
    const restored = await runMain(main, ['--chain', 'base', '--restore'], options)
    expect([restored.code, restored.stderr]).toEqual([0, ''])
  }
  expect(await settlementsOf(database)).toEqual(tables)
})
