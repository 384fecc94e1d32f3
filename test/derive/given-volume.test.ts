import { expect, test } from 'vitest'
import type { Queryable } from '../../db/pool.ts'
import { markAgentsOf } from '../../db/queries/agents/holders.ts'
import { testDatabase } from '../support/database.ts'
import { rowsRead } from '../support/rows-read.ts'
import { addressOf } from '../support/seed.ts'

const database = testDatabase()
const given = 5_000

test('an account that gave very many registrations to an address is found for it without reading them', async () => {
  const { pool } = database
  const to = addressOf('who was given them').slice(2)
  await pool.query(
    `insert into agent_holding (fid, chain, agent_id, held_by, acquired_block, acquired_log_index, acquired_at, released_block,
                                released_at, transferred_to, reason)
     select case when n < $1::int then 1 else n end, 'base', n, '\\x00', 1, n, now(), 2, now(), decode($2, 'hex'), 'transfer'
       from generate_series(1, $1::int + 2) n`,
    [given, to],
  )
  await pool.query('truncate due')
  await pool.query('analyze agent_holding')
  const mark = (db: Queryable) => markAgentsOf(db, [to])
  expect(await rowsRead(pool, mark, ['agent_holding'])).toBeLessThan(20)
  await mark(pool)
  const { rows } = await pool.query(`select key from due where kind = 'agents' order by key::bigint`)
  expect(rows.map(({ key }) => Number(key))).toEqual([1, given, given + 1, given + 2])
})
