import { expect, onTestFinished, test } from 'vitest'
import { migrate } from '../../db/migrate.ts'
import { directoryStats } from '../../db/queries/read/stats.ts'
import { derivations } from '../../derive/derivations.ts'
import { settle } from '../../derive/pass.ts'
import { createTestDatabase } from '../support/database.ts'
import { createBefore } from '../support/schema/before.ts'

test('what waited in a queue of a database of before is due', async () => {
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  await createBefore(database.url)
  const { pool } = database
  await pool.query(`insert into income_ring_due (address) values ('\\x0a'), ('\\x0b')`)
  await pool.query(`insert into income_wallet_event (chain, agent_id) values ('base', 7), ('base', 7), ('celo', 8)`)
  await pool.query(
    `insert into agent_change (fid, kind, changed_at) select n, 'upsert', now() from generate_series(1, 4) n`,
  )
  await pool.query('update income_progress set change = 2')
  await pool.query(`insert into holder_event (address) values ('\\x0c'), ('\\x0c')`)
  await pool.query(`insert into token_event (chain, agent_id) values ('celo', 9)`)
  await pool.query('insert into agent_event (fid) values (1), (2), (1)')
  await pool.query('insert into large_holder (fid, derived_at) values (3, null), (4, now())')
  await pool.query('insert into large_holder_event (fid) values (3), (4)')
  await pool.query('insert into edge_event (fid) values (5), (5)')
  await pool.query(
    `insert into edge_derivation (fid, due, derived_at) values (6, true, null), (7, false, now() - interval '1 hour')`,
  )
  await pool.query(`insert into income_due values ('\\x0d', 'base', '1970-01-02 03:00Z')`)
  await migrate(database.url)
  const { rows } = await pool.query(
    `select kind, key from due where due_at <= now() and kind <> 'totals' order by kind, key`,
  )
  expect(rows.map(({ kind, key }) => `${kind} ${key}`)).toEqual([
    'agents 1',
    'agents 2',
    'edges 6',
    'holders 0c',
    'income 3',
    'income 4',
    'income hours 0d:base:27',
    'large holders 3',
    'neighbours 5',
    'registrations celo:9',
    'rings 0a',
    'rings 0b',
    'wallets base:7',
    'wallets celo:8',
  ])
  // A large holder is derived once a minute, edges once a day.
  const later = `select kind, key, due_at > now() + interval '22 hours' as "isTomorrow" from due where due_at > now() order by kind`
  expect((await pool.query(later)).rows).toEqual([
    { kind: 'large holders', key: '4', isTomorrow: false },
    { kind: 'neighbours', key: '7', isTomorrow: true },
  ])
})

test('the sums of the whole of a database of before are told until its parts are derived, all of which are due', async () => {
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  await createBefore(database.url)
  const { pool } = database
  await pool.query('insert into agent_sum values (0, 5, 2, 1), (1, 3, 0, 0), (4095, 1, 1, 0)')
  await pool.query('insert into address_sum values (163, 9, 1, 2, 3, 4)')
  await pool.query(`insert into supply_sum values ('base', 7, 11)`)
  await migrate(database.url)
  const { total_agents, claimed_count, addresses_indexed, settlements, erc8004_supply } = JSON.parse(
    await directoryStats(pool),
  )
  expect([total_agents, claimed_count, addresses_indexed, erc8004_supply.base]).toEqual([9, 3, 9, 11])
  expect(settlements).toEqual({ last_24h: 1, last_7d: 2, last_30d: 3, all: 4 })
  const { rows } = await pool.query(
    `select split_part(key, ':', 1) as kind, count(*)::int as parts from due where kind = 'totals' group by 1 order by 1`,
  )
  expect(rows).toEqual([
    { kind: 'addresses', parts: 4096 },
    { kind: 'agents', parts: 2 },
    { kind: 'supply', parts: 1 },
  ])
  await settle(
    derivations.filter(({ kind }) => kind === 'totals'),
    { pool, now: () => new Date(), settlementOverloads: 'spec' },
  )
  expect(JSON.parse(await directoryStats(pool))).toMatchObject({ total_agents: 0, addresses_indexed: 0 })
})
