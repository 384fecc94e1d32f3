import type pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { chainNames } from '../../../config/chains.ts'
import type { Queryable } from '../../../db/pool.ts'
import { directoryStats } from '../../../db/queries/directory/stats.ts'
import { markAll, takeDue } from '../../../db/queries/due/queue.ts'
import { deriveDirectorySums } from '../../../db/queries/rollup/directory-sums.ts'
import { derivations } from '../../../derive/derivations.ts'
import { settle } from '../../../derive/pass.ts'
import { testDatabase } from '../../support/database.ts'
import { rowsRead } from '../../support/rows-read.ts'
import { countSettlements } from '../../support/seed.ts'

// Figures of the whole directory are sums of its parts, each of which is derived when one of its rows has moved; here
// they are compared with counts of all rows.

const agents = 3_000
const address = (n: string) => `decode(md5('of ' || ${n}) || '00000000', 'hex')`
const sources = ['agent', 'registration', 'registration_transfer', 'verified_address', 'recipient_counts']

const database = testDatabase()
beforeAll(async () => {
  await addAgents(1, agents)
  await countSettlements(database.pool)
  await database.pool.query(`vacuum (analyze) ${sources.join(', ')}`)
})

async function addAgents(first: number, last: number) {
  await database.pool.query(`
    insert into verified_address (fid, address, verified_at)
    select n, address, now() from generate_series(${first}, ${last}) n, lateral (values (${address('n')}), (${address('n / 3')})) one (address);
    insert into agent (fid, handle, chains, verified_addresses, claimed, agent_status, registered_at, listed_at, search, changed_at)
    select n, 'agent' || n, case when n % 5 = 0 then '{base,celo}'::text[] else '{base}' end,
           array[${address('n')}, ${address('n / 3')}], false, 'active', now(), now(), '', now()
      from generate_series(${first}, ${last}) n;
    insert into registration (id, chain, agent_id, owner, burned, registered_block, registered_at, registered_tx, acquired_block,
                              acquired_at, updated_block, updated_at)
    select 'base-' || n, 'base', n * 3, ${address('n')}, n % 50 = 0, n, now(), '\\x01', n, now(), n, now()
      from generate_series(${first}, ${last}) n;
    insert into registration_transfer (id, chain, agent_id, "to", block_number, log_index, block_timestamp, tx_hash)
    select 'base-' || n, 'base', n * 3, ${address('-n')}, n, 0, now(), '\\x01' from generate_series(${first}, ${last}) n;
    insert into recipient_counts (address, last_24h, last_7d, last_30d, ever)
    select ${address('n')}, n, n + 1, n + 2, n + 3 from generate_series(${first}, ${last}) n
        on conflict do nothing`)
}

async function figures(db: Queryable) {
  const { chains: _, generated_at: __, hub: ___, log: ____, ...told } = JSON.parse(await directoryStats(db))
  return told
}

/** The same figures as `figures`, counted from the rows. */
async function counted(db: Queryable) {
  const { rows } = await db.query(
    `
    select (select count(*)::int from agent) as total_agents,
           (select count(*)::int from agent where claimed) as claimed_count,
           (select count(*)::int from agent where cardinality(chains) >= 2) as cross_chain_count,
           (select count(*)::int from (select "to" from registration_transfer where "to" is not null
                                        union select unnest(verified_addresses) from agent) one) as addresses_indexed,
           (select json_object_agg(name, (select count(*) from registration where chain = name and not burned))
              from unnest($1::text[]) as name) as erc8004_supply,
           (select json_build_object('last_24h', coalesce(sum(last_24h), 0), 'last_7d', coalesce(sum(last_7d), 0),
                                     'last_30d', coalesce(sum(last_30d), 0), 'all', coalesce(sum(ever), 0))
              from recipient_counts where address in (select unnest(verified_addresses) from agent)) as settlements`,
    [chainNames],
  )
  return rows[0]
}

const totals = derivations.filter(({ kind }) => kind === 'totals')
const derive = () => settle(totals, { pool: database.pool, now: () => new Date(), settlementOverloads: 'spec' })
const partsDue = async () =>
  (await database.pool.query(`select distinct key from due where kind = 'totals'`)).rows.map(({ key }) => key)

test('rows that were there before there were parts are counted when all are derived', async () => {
  const { pool } = database
  await pool.query(`delete from directory_sum; delete from due where kind = 'totals'`)
  const all = await counted(pool)
  expect(all.total_agents).toBe(agents)
  await markAll(pool, 'totals')
  await derive()
  expect(await figures(pool)).toEqual(all)
})

test('no row is read to tell them; what has not moved is not due, and of what has its part alone', async () => {
  const { pool } = database
  expect(await rowsRead(pool, figures, sources)).toBe(0)
  await pool.query('update agent set settlements_all = settlements_all + 1')
  await pool.query('update registration set updated_block = updated_block + 1')
  expect(await partsDue()).toEqual([])
  await pool.query('update agent set verified_addresses = verified_addresses[1:1] where fid = 17')
  expect(await partsDue()).toHaveLength(2)
  const read = await rowsRead(pool, async (db) => deriveDirectorySums(db, await partsDue()), sources)
  expect(read).toBeGreaterThan(0)
  expect(read).toBeLessThan(100)
  await derive()
  expect(await figures(pool)).toEqual(await counted(pool))
})

const changes = [
  ['agents come', () => addAgents(agents + 1, agents + 20)],
  ['agents go', (db: pg.Pool) => db.query('delete from agent where fid % 100 = 3')],
  ['agents are claimed', (db: pg.Pool) => db.query('update agent set claimed = true where fid % 90 = 1')],
  ['agents are on other chains', (db: pg.Pool) => db.query(`update agent set chains = '{base,gnosis}' where fid = 8`)],
  ['an address is nobody’s', (db: pg.Pool) => db.query(`update agent set verified_addresses = '{}' where fid < 60`)],
  ['an agent beyond all parts', () => addAgents(5_000_000, 5_000_001)],
  ['identities are burned', (db: pg.Pool) => db.query('update registration set burned = true where agent_id < 30')],
  ['identities are undone', (db: pg.Pool) => db.query('delete from registration where agent_id > 8000')],
  ['transfers are undone', (db: pg.Pool) => db.query('delete from registration_transfer where block_number > 2900')],
  [
    'others are counted',
    (db: pg.Pool) => db.query('update recipient_counts set ever = ever + 5 where last_24h % 70 = 1'),
  ],
  ['counts go', (db: pg.Pool) => db.query('delete from recipient_counts where last_24h % 70 = 2')],
  ['a round counts them', (db: pg.Pool) => countSettlements(db)],
  ['registrations go', (db: pg.Pool) => db.query('delete from registration')],
] as const

test.each(changes)('%s: the figures are those of the rows after the next round', async (_, change) => {
  const { pool } = database
  const before = await figures(pool)
  await change(pool)
  const rows = await counted(pool)
  expect(rows).not.toEqual(before)
  await derive()
  expect(await figures(pool)).toEqual(rows)
})

test('what changes during a round is not lost, whoever ends first, and nobody waits', async () => {
  const { pool } = database
  await pool.query('update agent set claimed = not claimed where fid = 200')
  const [round, change] = await Promise.all([pool.connect(), pool.connect()])
  await change.query('begin')
  await change.query('update agent set claimed = not claimed where fid = 201')
  await round.query('begin')
  const due = await takeDue(round, { kind: 'totals', now: new Date(), limit: 1_000 })
  await change.query('update agent set claimed = not claimed where fid = 202')
  await deriveDirectorySums(
    round,
    due.map(({ key }) => key),
  )
  await change.query('commit')
  await pool.query('update agent set claimed = not claimed where fid = 203')
  await round.query('commit')
  expect(await partsDue()).toEqual(['agents:0'])
  await derive()
  expect(await partsDue()).toEqual([])
  expect(await figures(pool)).toEqual(await counted(pool))
  for (const client of [round, change]) client.release()
})
