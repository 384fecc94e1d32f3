import { beforeAll, expect, test } from 'vitest'
import { testDatabase } from '../support/database.ts'
import { addressOf, seedVerification } from '../support/seed.ts'

const database = testDatabase()
beforeAll(async () => {
  // Enough rows that a scan costs more than an index: 20,000 registrations, each transferred once, 10,000 addresses.
  await database.pool.query(`
    alter table registration_transfer disable trigger user;
    insert into registration_transfer (id, chain, agent_id, "from", "to", block_number, log_index, block_timestamp, tx_hash)
    select n || '-' || move, 'base', n, case move when 2 then decode(md5('a' || n % 10000) || '00000000', 'hex') end,
           decode(md5('a' || (n + move - 1) % 10000) || '00000000', 'hex'), n * 2 + move, 0,
           timestamptz '2026-01-01Z' + (n * 2 + move) * interval '1 minute', '\\x00'
      from generate_series(1, 20000) n, generate_series(1, 2) move;
    alter table verified_address disable trigger user;
    insert into verified_address (fid, address, verified_at)
    select n, decode(md5('a' || n) || '00000000', 'hex'), '2026-01-01Z' from generate_series(0, 9999) n;
    insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token, payer,
                            recipient, facilitator, payment_nonce, tx_hash)
    select 1, '2026-01-08Z', n, 0, 'base', 'c', '\\xe3ee160e', '\\x01', '\\x02',
           decode(md5('a' || n % 100) || '00000000', 'hex'), '\\x03', '\\x04', '\\x05'
      from generate_series(1, 2000) n;
    analyze registration_transfer, verified_address, settlement, unlisted`)
})

/** Query plan of a statement run as the role directory_reader, as text. */
async function planOf(sql: string): Promise<string> {
  const client = await database.pool.connect()
  try {
    await client.query('set role directory_reader')
    const { rows } = await client.query(`explain ${sql}`)
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  } finally {
    await client.query('reset role')
    client.release()
  }
}
const at = `timestamptz '2026-01-08Z'`

test.each([
  ['agent_as_of', `select * from directory.agent_as_of(77, ${at})`, ['registration_transfer_to']],
  ['fids_of_address_as_of', `select * from directory.fids_of_address_as_of('${addressOf('a')}', ${at})`, []],
  [
    'a join with settlements',
    `select whose.fid from directory.settlements s
      cross join lateral directory.fids_of_address_as_of(s.recipient_address, s.block_timestamp) whose
      where s.chain = 'base' and s.block_number between 10 and 12`,
    [],
  ],
  [
    'holders_as_of',
    `select * from directory.holders_as_of('base', timestamptz '2026-01-01T01:00Z')`,
    ['registration_transfer_time'],
  ],
])('%s is part of the statement that calls it, and reads by index', async (_, sql, indexes) => {
  const plan = await planOf(sql)
  expect(plan).not.toMatch(/Function Scan|Seq Scan on (registration_transfer|verified_address|settlement)/)
  for (const index of indexes) expect(plan).toContain(index)
})

test('an account that left is nobody then, while what lies on the chain stays', async () => {
  const { pool } = database
  const address = `0x${(await pool.query(`select encode(address, 'hex') as hex from verified_address where fid = 77`)).rows[0].hex}`
  await seedVerification(pool, { fid: 20_000, address, verifiedAt: new Date('2026-01-02Z') })
  const fids = async () =>
    (await pool.query(`select fid from directory.fids_of_address_as_of($1, ${at}) order by fid`, [address])).rows.map(
      ({ fid }) => fid,
    )
  expect(await fids()).toEqual([77, 20_000])
  await pool.query(`insert into unlisted (fid, since) values (77, now())`)
  expect(await fids()).toEqual([20_000])
  const held = async (fid: number) => (await pool.query(`select from directory.agent_as_of($1, ${at})`, [fid])).rowCount
  expect([await held(77), await held(20_000)]).toEqual([0, 1])
})
