import type pg from 'pg'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { testDatabase } from '../../support/database.ts'
import { rounds } from '../../support/rounds.ts'
import { addressOf, birth, seedVerification } from '../../support/seed.ts'
import { runJoin, runLargeHolders } from '../passes.ts'

const database = testDatabase()
let pool: pg.Pool
const attacker = addressOf('attacker')
const sent = rounds(20_000, 100_000)
const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
let now = Date.parse('2026-03-02T00:00:00Z')
const options = () => ({ pool, now: () => new Date(now), settlementOverloads: 'spec', lookups: false }) as const

beforeAll(async () => {
  pool = database.pool
})
beforeEach(() => {
  now += 120_000
})

/** Inserts registrations that the attacker mints and then, all in one later block, transfers to an address. */
async function send(to: string, first: number, count: number) {
  await pool.query(
    `insert into registration (id, chain, agent_id, owner, burned, registered_block, registered_at, registered_tx,
                               acquired_block, acquired_at, updated_block, updated_at)
     select 'base-' || n, 'base', n, $1, false, 1, $2, '', 2, $2, 2, $2 from generate_series($3::int, $4::int) n`,
    [bytes(to), birth, first, first + count - 1],
  )
  await pool.query(
    `insert into registration_transfer (id, chain, agent_id, "from", "to", block_number, log_index, block_timestamp, tx_hash)
     select 'base-' || n || '-' || step, 'base', n, case step when 2 then $1::bytea end, case step when 1 then $1 else $2 end,
            step, n, $3, ''
       from generate_series($4::int, $5::int) n, generate_series(1, 2) step`,
    [bytes(attacker), bytes(to), birth, first, first + count - 1],
  )
}

const joined = async () => {
  while ((await runJoin(options())) > 0);
}
const totals = async (fid: number) => {
  const { rows } = await pool.query('select current_total as total, agent_status as status from agent where fid = $1', [
    fid,
  ])
  return rows[0]
}

test(`who is sent ${sent} tokens keeps nobody waiting, and is derived once a minute`, {
  tags: ['rounds'],
}, async () => {
  const victim = addressOf('victim')
  await send(victim, 1, sent)
  await seedVerification(pool, { fid: 1, address: victim })
  await pool.query('vacuum (analyze) registration, registration_transfer')
  await joined()
  expect(await totals(1)).toBeUndefined()

  await seedVerification(pool, { fid: 2, address: addressOf('neighbour') })
  let received = 0
  /** Milliseconds from a neighbour's new registration until the neighbour's total shows it. */
  const delayOfNeighbour = async () => {
    await pool.query(
      `insert into registration_transfer (id, chain, agent_id, "to", block_number, log_index, block_timestamp, tx_hash)
       values ('n' || $1::int, 'gnosis', $1::int, $2, 1, $1::int, $3, '')`,
      [++received, bytes(addressOf('neighbour')), birth],
    )
    const began = performance.now()
    await joined()
    expect(await totals(2)).toEqual({ total: received, status: 'active' })
    return performance.now() - began
  }
  const usual: number[] = []
  for (let n = 0; n < 10; n++) usual.push(await delayOfNeighbour())

  let derived = false
  const began = performance.now()
  const large = runLargeHolders(options()).finally(() => {
    derived = true
  })
  const meanwhile: number[] = []
  while (!derived) meanwhile.push(await delayOfNeighbour())
  // A neighbour blocked by the large holder would wait for the whole derivation, at any speed of the machine. The
  // median is compared because other load on the machine delays single neighbours, not half of them.
  const halfWaitedMs = meanwhile.toSorted((a, b) => a - b)[Math.floor((meanwhile.length - 1) / 2)]
  expect(halfWaitedMs).toBeLessThan(Math.max(...usual) + (performance.now() - began) / 2)
  expect(await large).toBe(1)
  expect(await totals(1)).toEqual({ total: sent, status: 'active' })
  expect(await runLargeHolders(options())).toBe(0)

  await send(victim, sent + 1, 1)
  await joined()
  expect(await totals(1)).toEqual({ total: sent, status: 'active' })
  now += 59_000
  expect(await runLargeHolders(options())).toBe(0)
  now += 1_000
  expect(await runLargeHolders(options())).toBe(1)
  expect(await totals(1)).toEqual({ total: sent + 1, status: 'active' })
})

test('while a large holder is derived the join goes on, with the holder’s own profile too', async () => {
  const fid = 4
  const received = 2_500
  await send(addressOf('holder'), 1_000_000, received)
  await seedVerification(pool, { fid, address: addressOf('holder') })
  await joined()
  expect(await runLargeHolders(options())).toBe(1)
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('select from large_holder where fid = $1 for update', [fid])
    await pool.query(`insert into social_profile (fid, handle, updated_at) values ($1, 'ada', now())`, [fid])
    await joined()
  } finally {
    await client.query('rollback')
    client.release()
  }
  const { rows } = await pool.query('select handle, current_total from agent where fid = $1', [fid])
  expect(rows).toEqual([{ handle: 'ada', current_total: received }])
})

test('a token sent by a stranger is unsolicited until its holder sets something', async () => {
  await seedVerification(pool, { fid: 3, address: addressOf('small') })
  await pool.query(
    `insert into registration_transfer (id, chain, agent_id, "from", "to", block_number, log_index, block_timestamp, tx_hash)
     values ('a', 'celo', 1, null, $1, 5, 0, $3, ''), ('b', 'celo', 2, null, $2, 5, 1, $3, ''),
            ('c', 'celo', 2, $2, $1, 6, 0, $3, ''), ('d', 'celo', 3, null, $2, 5, 2, $3, ''),
            ('e', 'celo', 3, $2, $1, 6, 1, $3, '')`,
    [bytes(addressOf('small')), bytes(addressOf('stranger')), birth],
  )
  await pool.query(
    `insert into registration (id, chain, agent_id, owner, burned, registered_block, registered_at, registered_tx,
                               acquired_block, acquired_at, updated_block, updated_at)
     select 'celo-' || n, 'celo', n, $1, false, 5, $2, '', 6, $2, case n when 3 then 7 else 6 end, $2
       from generate_series(1, 3) n`,
    [bytes(addressOf('small')), birth],
  )
  await joined()
  const unsolicited = async () => {
    const { rows } = await pool.query('select agent_id, unsolicited from agent_holding where fid = 3 order by agent_id')
    return rows.map((row) => row.unsolicited)
  }
  expect(await unsolicited()).toEqual([false, true, false])
  await pool.query(`update registration set updated_block = 9 where id = 'celo-2'`)
  await joined()
  expect(await unsolicited()).toEqual([false, false, false])
  // The sender turns out to be the same agent.
  await pool.query(`update registration set updated_block = 6 where id = 'celo-2'`)
  await joined()
  expect(await unsolicited()).toEqual([false, true, false])
  // It stays what it is when the account gives the address up.
  const end = (at: Date | null) => pool.query('update verified_address set ended_at = $1 where fid = 3', [at])
  await end(new Date(birth.getTime() + 60_000))
  await joined()
  expect(await unsolicited()).toEqual([false, true, false])
  await pool.query(`update registration set updated_block = 9 where id = 'celo-2'`)
  await joined()
  expect(await unsolicited()).toEqual([false, false, false])
  await end(null)
  await seedVerification(pool, { fid: 3, address: addressOf('stranger') })
  await joined()
  expect(await unsolicited()).not.toContain(true)
})
