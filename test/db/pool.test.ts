import { expect, test } from 'vitest'
import { inTransaction } from '../../db/pool.ts'
import { createTestDatabase } from '../support/database.ts'

test('a connection that breaks in the middle of a transaction fails the transaction, and not the process', async () => {
  const { pool, drop } = await createTestDatabase()
  const outsider = await pool.connect()
  const broken = inTransaction(pool, async (client) => {
    const { rows } = await client.query('select pg_backend_pid() as pid')
    const ended = new Promise((resolve) => client.once('end', resolve))
    await outsider.query('select pg_terminate_backend($1)', [rows[0].pid])
    await ended // no statement is in flight that could be told
    await client.query('select 1')
  })
  await expect(broken).rejects.toThrow(/not queryable/)
  outsider.release()
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  await drop()
})
