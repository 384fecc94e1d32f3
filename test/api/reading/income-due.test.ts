import { expect, test } from 'vitest'
import { hourKey } from '../../../db/due/paid-hours.ts'
import { countedIncomePayments } from '../../../db/queries/income/payments.ts'
import { testDatabase } from '../../support/database.ts'

const database = testDatabase()
const hours = 1_000

test('of the hours that are due, only those of the agent are read, by sessions as well that counted when none was', async () => {
  const { pool } = database
  await pool.query(`insert into income_address values (7, '\\x07', '', '-infinity', 'infinity')`)
  await pool.query(
    `insert into income_hour (fid, hour, recipient, chain, kind, flag, x402, first_at, last_at, n, amount, dust_n, dust_amount)
     select 7, hour, '\\x07', 'base', 'eip3009_vrs', 'none', false, hour, hour, 3, 3, 0, 0
       from generate_series(timestamptz '2026-01-01', timestamptz '2026-01-01' + ($1 - 1) * interval '1 hour', '1 hour') hour`,
    [hours],
  )
  const session = await pool.connect()
  try {
    const counted = () => countedIncomePayments(session, { fid: 7, filter: { chain: null, since: null, until: null } })
    const read = async () => {
      const { rows } = await session.query(
        `select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as n
           from pg_stat_xact_user_tables where relname = 'due'`,
      )
      return rows[0].n
    }
    // Postgres may keep a generic plan from the sixth execution on.
    for (let time = 0; time < 8; time++) expect(await counted()).toBe(3 * hours)
    await pool.query(
      `insert into due (kind, key) select 'income hours', ${hourKey('recipient', 'chain', 'hour')} from income_hour limit 10`,
    )
    await pool.query(
      `insert into due (kind, key) select 'income hours', md5(n::text) || ':base:490000' from generate_series(1, 20000) n`,
    )
    await pool.query('analyze due')
    await session.query('begin')
    const before = await read()
    expect(await counted()).toBe(3 * (hours - 10))
    expect((await read()) - before).toBe(10)
  } finally {
    session.release(true)
  }
})
