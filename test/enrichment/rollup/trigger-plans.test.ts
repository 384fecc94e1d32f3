import { expect, test } from 'vitest'
import { testDatabase } from '../../support/database.ts'

const database = testDatabase()
const many = 300

test('a session that noted sums while there was no address notes many behind all addresses by as little', async () => {
  const { pool } = database
  const session = await pool.connect()
  const pay = (from: number, to: number) =>
    session.query(
      `with pair as (
         select decode(lpad(to_hex(i), 40, '0'), 'hex') as address from generate_series($1::int, $2) i
       ), payer as (
         insert into settlement_payer (recipient, payer, chain, overload, first_at, last_at, n, amount)
         select address, decode(md5(address::text) || '00000000', 'hex'), 'base', false, '2026-01-01', '2026-01-01', 1, 1 from pair
       )
       insert into settlement_hourly (recipient, chain, hour, overload, n, amount, first_block, last_block)
       select address, 'base', '2026-01-01', false, 1, 1, 1, 1 from pair`,
      [from, to],
    )
  try {
    // Statistics say that they are empty, so the session plans to read them whole.
    await pool.query('vacuum analyze agent, verified_address, income_address, circle_reach')
    await pay(many + 1, many + 1)
    await pool.query(
      `insert into agent (fid, chains, verified_addresses, claimed, agent_status, search, registered_at, listed_at, changed_at)
       select i, '{base}', '{}', false, 'active', '', '2026-01-01', '2026-01-01', '2026-01-01' from generate_series(1, $1::int) i`,
      [many],
    )
    await pool.query(
      `with one as (select i as fid, decode(lpad(to_hex(i), 40, '0'), 'hex') as address from generate_series(1, $1::int) i),
       verified as (
         insert into verified_address (fid, address, verified_at)
         select fid, address, timestamptz '2026-01-01' from one
          union all
         select fid % $1 + 1, decode(md5(address::text) || '00000000', 'hex'), '2026-01-01' from one
       ),
       reached as (insert into circle_reach (kind, address, member) select 'rings', address, decode(md5(address::text) || '00000000', 'hex') from one)
       insert into income_address select fid, address, '', '-infinity', 'infinity' from one`,
      [many],
    )
    const noted = async () => {
      const { rows } = await session.query(
        `select (select count(distinct key)::int from due where kind = 'neighbours') as edges, (select count(distinct key)::int from due where kind = 'income hours') as hours,
                (select count(*)::int from due where kind = 'rings') as rings`,
      )
      return rows[0]
    }
    // No TRUNCATE, which would have the session plan again.
    await pool.query('delete from due')
    await session.query('begin')
    await pay(1, many)
    const { rows } = await session.query(
      `select relname, (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_xact_user_tables
        where relname in ('verified_address', 'agent', 'income_address', 'circle_reach') order by 1`,
    )
    await session.query('commit')

    expect(await noted()).toEqual({ edges: many, hours: many, rings: many })
    for (const { relname, read } of rows) expect(read, relname).toBeLessThan(10 * many)
  } finally {
    session.release(true)
  }
})
