import { expect, test } from 'vitest'
import { derivations } from '../../derive/derivations.ts'
import { derivePass } from '../../derive/pass.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, seedChainState } from '../support/seed.ts'

const database = testDatabase()

test('all accounts of an address follow it slice by slice, however many verify it', async () => {
  const { pool } = database
  const context = { pool, now: () => new Date('2026-06-01T00:00:00Z'), settlementOverloads: 'spec' } as const
  await seedChainState(pool, { chain: 'base', indexed: 1_000, finalized: 1_000 })
  const address = Buffer.from(addressOf('verified by very many').slice(2), 'hex')
  await pool.query(
    `insert into verified_address (fid, address, verified_at, ended_at)
     select n, $1, time, case when time < now() then now() end from generate_series(1, 1000) n, unnest(array[now() - interval '1 hour', now()]) time
      where n % 2 = 0 or time = now()`,
    [address],
  )
  await pool.query(
    `insert into agent_holding (fid, chain, agent_id, held_by, acquired_block, acquired_log_index, acquired_at,
                                released_block, released_at, transferred_to, reason)
     select fid, 'base', id, '\\x01', 1, id, now(), 2, now(), $1, 'transfer'
       from (values (7, 1), (7, 2), (5000, 3)) gave (fid, id)`,
    [address],
  )
  await pool.query('delete from due')
  await pool.query(
    `insert into registration_transfer (id, chain, agent_id, "to", block_number, log_index, block_timestamp, tx_hash)
     values ('base-1', 'base', 3, $1, 1, 1, now(), '\\x00')`,
    [address],
  )
  const holders = derivations.filter(({ kind }) => kind === 'holders')
  const marked = async () => {
    const { rows } = await pool.query(`select key::int as fid from due where kind = 'agents' order by 1`)
    return rows.map(({ fid }) => fid)
  }
  const passes: number[] = []
  for (const one of holders) while ((await derivePass(one, context)) > 0) passes.push((await marked()).length)
  expect(passes).toEqual([200, 400, 600, 800, 1_000, 1_001])
  expect(await marked()).toEqual([...Array.from({ length: 1_000 }, (_, n) => n + 1), 5_000])
})
