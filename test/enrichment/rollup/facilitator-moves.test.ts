import { expect, test } from 'vitest'
import { addToRollup, lockRollup, moveRollup } from '../../../db/queries/rollup/cursor.ts'
import { testDatabase } from '../../support/database.ts'
import { empty, expectExactTables, finalize } from './world.ts'

const database = testDatabase()

test('a session that rolled up few settlements rolls up many of senders that it knows by as little', async () => {
  const { pool } = database
  await empty(database)
  await pool.query(
    `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token, payer,
                             recipient, facilitator, payment_nonce, tx_hash)
     select n, timestamptz '2026-01-01Z' + n * interval '1 second', greatest(n, 8), n, 'base', 'c', '\\xe3ee160e', '\\x01', int4send(n),
            int4send(n), int4send(n % 7), '\\x01', '\\x01'
       from generate_series(1, 10000) n`,
  )
  await finalize(database, 'base', 10_000)
  const client = await pool.connect()
  const plans: string[] = []
  client.on('notice', ({ message }) => plans.push(message ?? ''))
  try {
    const rollUp = async (fromBlock: number, toBlock: number) => {
      await client.query('begin')
      await lockRollup(client, 'base')
      await addToRollup(client, 'base', { fromBlock, toBlock })
      await moveRollup(client, 'base', toBlock + 1)
      await client.query('commit')
    }
    // Postgres plans a prepared statement for its values only the first five times; later ones may use a generic plan.
    for (let time = 1; time <= 8; time++) await rollUp(7 + time, 7 + time)
    await client.query(`load 'auto_explain'`)
    await client.query(
      `select set_config('auto_explain.' || name, value, false)
         from (values ('log_min_duration', '0'), ('log_nested_statements', 'on'), ('log_analyze', 'on'), ('log_level', 'notice')) s (name, value)`,
    )
    await rollUp(16, 10_000)
  } finally {
    client.release(true)
  }

  expect(plans.filter((plan) => plan.includes('facilitator_total')).length).toBeGreaterThan(0)
  const compared = plans
    .flatMap((plan) => [...plan.matchAll(/Rows Removed by Join Filter: (\d+)/g)])
    .map(([, n]) => Number(n))
  expect(Math.max(0, ...compared), 'pairs of rows compared').toBeLessThan(100_000)
  await expectExactTables(database)
})
