import { expect, test } from 'vitest'
import { testDatabase } from '../support/database.ts'
import { addressOf, seedAgent, seedChainState } from '../support/seed.ts'
import { deriveAll } from './again.ts'

const database = testDatabase()

test('verifying an address makes one mark, however many registrations it holds, and all of them follow', async () => {
  const { pool } = database
  const context = { pool, now: () => new Date('2026-06-01T00:00:00Z'), settlementOverloads: 'spec' } as const
  await seedChainState(pool, { chain: 'base', indexed: 1_000, finalized: 1_000 })
  const holder = Buffer.from(addressOf('a holder of very many').slice(2), 'hex')
  await pool.query(
    `insert into registration (id, chain, agent_id, owner, burned, registered_block, registered_at, registered_tx,
                               acquired_block, acquired_at, updated_block, updated_at)
     select 'base-' || n, 'base', n, $1, false, 1, now(), '\\x00', 1, now(), 1, now() from generate_series(1, 1200) n`,
    [holder],
  )
  await pool.query(
    `insert into registration_transfer (id, chain, agent_id, "to", block_number, log_index, block_timestamp, tx_hash)
     select 'base-' || n, 'base', n, $1, 1, n, now(), '\\x00' from generate_series(1, 1200) n`,
    [holder],
  )
  await deriveAll(context)
  const marks = async () => {
    const { rows } = await pool.query(`select key from due where kind = 'searched registrations'`)
    return rows.map(({ key }) => key)
  }
  expect(await marks()).toEqual([])
  const found = async () => {
    const { rows } = await pool.query<{ count: string }>(
      `select count(*) from searched_registration where terms @@ '''fid:7'''`,
    )
    return Number(rows[0]?.count)
  }

  await seedAgent(pool, { fid: 7, addresses: [addressOf('a holder of very many')] })
  expect(new Set(await marks())).toEqual(new Set([`@${holder.toString('hex')}`]))
  await deriveAll(context)
  expect(await found()).toBe(1_200)
  await pool.query('delete from agent where fid = 7')
  await pool.query('delete from verified_address where fid = 7')
  await deriveAll(context)
  expect(await found()).toBe(0)
})
