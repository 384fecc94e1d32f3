import { expect, onTestFinished, test } from 'vitest'
import { lockClasses } from '../../../db/lock-keys.ts'
import { readSessionId } from '../../../db/queries/chain/chain-state.ts'
import { lockBackfill } from '../../../processors/store/lock.ts'
import { testDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const database = testDatabase()
const sessionOf = async () => {
  const session = await database.pool.connect()
  onTestFinished(() => session.release(true))
  return session
}

test('a backfill that is held for a transaction, and that nobody runs, is waited for; one that runs is not had', async () => {
  const late = await sessionOf()
  const command = await sessionOf()
  const pid = await readSessionId(command)
  await late.query(`begin; select pg_advisory_xact_lock(${lockClasses.backfillCommand}, 7)`)
  const asked = lockBackfill(command, 7)
  await until('it has asked once', async () => {
    const { rows } = await database.pool.query(
      `select from pg_stat_activity where pid = $1 and state = 'idle' and query like '%pg_try_advisory_lock%'`,
      [pid],
    )
    return rows.length > 0
  })
  await late.query('commit')
  expect(await asked).toBe(true)
  expect(await lockBackfill(await sessionOf(), 7)).toBe(false)
})
