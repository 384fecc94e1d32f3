import { expect, test } from 'vitest'
import { noteActivity } from '../../db/queries/sources/social-profiles.ts'
import { testDatabase } from '../support/database.ts'
import { insert } from '../support/seed.ts'

const database = testDatabase()

test('the last message of an account is the newest one known, a second later or long before', async () => {
  const { pool } = database
  const at = (second: number) => new Date(Date.UTC(2026, 2, 1, 0, 0, second))
  for (const fid of [1, 2]) await insert(pool, 'social_profile', { fid, updated_at: at(0) })
  const last = async () => (await pool.query('select fid, last_message_at as at from social_profile order by fid')).rows
  const note = (...messages: { fid: number; at: Date }[]) => noteActivity(pool, messages)
  await note({ fid: 1, at: at(10) }, { fid: 1, at: at(12) }, { fid: 1, at: at(11) }, { fid: 3, at: at(12) })
  expect(await last()).toEqual([
    { fid: 1, at: at(12) },
    { fid: 2, at: null },
  ])
  await note({ fid: 1, at: at(13) }, { fid: 2, at: at(1) })
  await note({ fid: 1, at: at(5) })
  expect(await last()).toEqual([
    { fid: 1, at: at(13) },
    { fid: 2, at: at(1) },
  ])
})
