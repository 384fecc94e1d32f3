import { expect, test } from 'vitest'
import { mintTo } from '../enrichment/upstreams/job.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, insert, seedChainState } from '../support/seed.ts'
import { deriveAll } from './again.ts'

const database = testDatabase()
const bytes = (address: string | null) => address && Buffer.from(address.slice(2), 'hex')
const owner = addressOf('the owner')
let block = 500

test('whose registrations others can change than before is an event, and nothing else is', async () => {
  const { pool } = database
  let now = new Date('2026-06-01T00:00:00Z')
  const context = { pool, now: () => now, settlementOverloads: 'spec' } as const
  await seedChainState(pool, { chain: 'base', indexed: 1_000, finalized: 1_000 })
  await mintTo(pool, { fid: 1, addresses: [owner] })
  await mintTo(pool, { fid: 2, addresses: [addressOf('of another')] })
  const { rows } = await pool.query('select chain, agent_id from registration where owner = $1', [bytes(owner)])
  const token = rows[0] as { chain: string; agent_id: string }
  const events = async (minutesLater = 60) => {
    now = new Date(now.getTime() + minutesLater * 60_000)
    await deriveAll(context)
    const { rows: noted } = await pool.query(`select fid from directory_event where kind = 'control' order by seq`)
    return noted.map(({ fid }) => fid)
  }
  const place = () => ({
    id: `${token.chain}-${++block}-0`,
    chain: token.chain,
    block_number: block,
    log_index: 0,
    block_timestamp: new Date('2026-05-01T00:00:00Z'),
    tx_hash: Buffer.alloc(32),
  })
  const say = (approved: boolean, by = owner) =>
    insert(pool, 'registration_operator', {
      ...place(),
      owner: bytes(by),
      operator: bytes(addressOf('an operator')),
      approved,
    })
  const approve = (to: string | null) =>
    insert(pool, 'registration_approval', {
      ...place(),
      agent_id: token.agent_id,
      owner: bytes(owner),
      approved: bytes(to),
    })

  expect(await events()).toEqual([]) // the first look
  await say(true)
  expect(await events()).toEqual([1])
  await say(true)
  expect(await events()).toEqual([1]) // said again
  await say(false)
  expect(await events()).toEqual([1, 1])
  await approve(addressOf('who is approved'))
  expect(await events()).toEqual([1, 1, 1])
  await say(true, addressOf('nobody known'))
  expect(await events()).toEqual([1, 1, 1])
  await pool.query('delete from registration_approval') // as a reorg does
  expect(await events()).toEqual([1, 1, 1, 1])
  await pool.query('update agent_control set digest = $1 where fid = 2', [Buffer.alloc(32)])
  expect(await events()).toEqual([1, 1, 1, 1]) // nobody is looked at again without a reason

  // Who approves and unapproves all day has one event in an hour, and what came last is noted in the next.
  await say(true)
  const noted = await events()
  expect(noted).toEqual([1, 1, 1, 1, 1])
  for (let n = 0; n < 6; n++) {
    await say(n % 2 === 1)
    expect(await events(5)).toEqual(noted)
  }
  await say(false)
  expect(await events(15)).toEqual(noted)
  expect(await events(14)).toEqual(noted)
  expect(await events(1)).toEqual([...noted, 1])
  expect(await events(60)).toEqual([...noted, 1])
})

test('whoever is named is one event, whatever the chain says of him then; contracts that others command are one more', async () => {
  const { pool } = database
  let now = new Date('2026-08-01T00:00:00Z')
  const [of3, operator, wallet] = ['of 3', 'operator of 3', 'wallet of 3'].map(addressOf) as [string, string, string]
  await mintTo(pool, { fid: 3, addresses: [of3] })
  const { rows } = await pool.query('select chain, agent_id from registration where owner = $1', [bytes(of3)])
  const events = async () => {
    now = new Date(now.getTime() + 3_600_000)
    await deriveAll({ pool, now: () => now, settlementOverloads: 'spec' })
    return (await pool.query(`select from directory_event where kind = 'control' and fid = 3`)).rowCount
  }
  const key = (address: string) => ({ address, kind: 'key' })
  const safe = (address: string, owner: string) => ({ address, kind: 'safe', owners: [addressOf(owner)], threshold: 1 })
  const read = (...accounts: object[]) =>
    pool.query(
      `insert into control_reading (chain, agent_id, input, read_at, accounts, names) values ($1, $2, gen_random_uuid(), $3, $4, '[]')
           on conflict (chain, agent_id) do update set accounts = excluded.accounts, input = excluded.input`,
      [rows[0].chain, rows[0].agent_id, now, JSON.stringify(accounts)],
    )
  expect(await events()).toBe(0)
  await read(key(of3))
  expect(await events()).toBe(0)
  await insert(pool, 'registration_operator', {
    id: `${rows[0].chain}-${++block}-0`,
    chain: rows[0].chain,
    block_number: block,
    log_index: 0,
    block_timestamp: new Date('2026-05-01T00:00:00Z'),
    tx_hash: Buffer.alloc(32),
    owner: bytes(of3),
    operator: bytes(operator),
    approved: true,
  })
  expect(await events()).toBe(1)
  await read(key(of3), safe(operator, 'first'))
  expect(await events()).toBe(1)
  await read(key(of3), safe(operator, 'first'), safe(wallet, 'first'))
  expect(await events()).toBe(1)
  await read(key(of3), safe(operator, 'first'), { address: wallet, kind: 'not_checked' })
  expect(await events()).toBe(1)
  await read(key(of3), safe(operator, 'second'))
  expect(await events()).toBe(2)
  await read({ ...key(of3), kind: 'delegated', delegate: addressOf('a delegate') }, safe(operator, 'second'))
  expect(await events()).toBe(3)
})
