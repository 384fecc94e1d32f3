import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { runIncome } from '../../derive/passes.ts'
import { testDatabase } from '../../support/database.ts'
import { rounds } from '../../support/rounds.ts'
import {
  addressOf,
  hashOf,
  insert,
  seedAgent,
  seedChainState,
  seedHolding,
  seedSettlement,
  seedWallet,
} from '../../support/seed.ts'
import { bytes, empty } from './income-rows.ts'

const database = testDatabase()

const holders = [addressOf('holder'), addressOf('stranger')] as const
const wallets = [0, 1, 2].map((one) => addressOf(`wallet ${one}`))
const fid = 10
const timeOf = (block: number) => new Date(Date.UTC(2026, 0, 1) + block * 17 * 60_000)

/** The event of one block: a change of the agent wallet, a transfer of the registration, or a payment to a wallet. */
const deed = fc.oneof(
  fc.record({ kind: fc.constant('name' as const), wallet: fc.integer({ min: 0, max: 2 }) }),
  fc.record({ kind: fc.constant('unset' as const) }),
  fc.record({ kind: fc.constant('transfer' as const), to: fc.integer({ min: 0, max: 1 }) }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pay' as const), wallet: fc.integer({ min: 0, max: 2 }) }) },
)
type Deed = typeof deed extends fc.Arbitrary<infer T> ? T : never
/** Whether the registry logs the clearing of the wallet, before the transfer that causes it. */
const isLogged = fc.boolean()

/** Blocks of payments that count as the agent's income, by replaying the events; block 0 is the mint to the agent. */
function earned(deeds: readonly Deed[]): number[] {
  let holder = 0
  let wallet: number | null = null
  return deeds.flatMap((one, at) => {
    if (one.kind === 'name') wallet = one.wallet
    else if (one.kind === 'unset') wallet = null
    else if (one.kind === 'transfer') {
      holder = one.to
      wallet = null
    } else if (holder === 0 && wallet === one.wallet) return [at + 1]
    return []
  })
}

async function write(deeds: readonly Deed[], clears: boolean): Promise<void> {
  const { pool } = database
  const transfer = (block: number, from: string | null, to: string) =>
    insert(pool, 'registration_transfer', {
      id: `base-${block}-1`,
      chain: 'base',
      agent_id: '1',
      from: from && bytes(from),
      to: bytes(to),
      block_number: block,
      log_index: 1,
      block_timestamp: timeOf(block),
      tx_hash: bytes(hashOf(`${block}`)),
    })
  let holder = 0
  await transfer(0, null, holders[0])
  await seedWallet(pool, { id: 1, wallet: holders[0], block: 0, logIndex: 3, at: timeOf(0) })
  for (const [at, one] of deeds.entries()) {
    const block = at + 1
    const named = (wallet: string | null) => seedWallet(pool, { id: 1, wallet, block, at: timeOf(block) })
    if (one.kind === 'name') await named(wallets[one.wallet] as string)
    else if (one.kind === 'unset') await named(null)
    else if (one.kind === 'pay') {
      const recipient = wallets[one.wallet] as string
      await seedSettlement(pool, { chain: 'base', recipient, block, at: timeOf(block), amount: 1n })
    } else {
      if (clears) await named(null)
      await transfer(block, holders[holder] as string, holders[one.to] as string)
      holder = one.to
    }
  }
}

/** Writes the agent's holdings as the join derives them from the transfers. */
async function hold(): Promise<void> {
  const { pool } = database
  await pool.query('delete from agent_holding')
  await pool.query(
    `insert into agent_holding (fid, chain, agent_id, held_by, acquired_block, acquired_log_index, acquired_at, released_block,
                                released_at, transferred_to, reason)
     select $1, chain, agent_id, holder, acquired_block, acquired_log_index, acquired_at, released_block, released_at,
            transferred_to, case when released_block is not null then 'transfer' end
       from holding where holder = $2`,
    [fid, bytes(holders[0])],
  )
  await insert(pool, 'agent_change', { fid, kind: 'upsert', changed_at: new Date() })
}

const settle = async () => {
  const { pool } = database
  while ((await rollUpSettlements({ pool })) + (await runIncome({ pool })) > 0);
}
const blocksOf = async () => {
  const { rows } = await database.pool.query<{ n: number }>(
    `select coalesce(sum(n), 0)::int as n from income_hour where fid = $1`,
    [fid],
  )
  return rows[0]?.n
}

test('a wallet earns for whom its registration named it, from the word to the next one or the next transfer', {
  tags: ['rounds'],
}, async () => {
  const { pool } = database
  await fc.assert(
    fc.asyncProperty(fc.array(deed, { minLength: 5, maxLength: 25 }), isLogged, async (deeds, clears) => {
      await empty(pool)
      await seedAgent(pool, { fid, addresses: [holders[0]] })
      await write(deeds, clears)
      await pool.query('update chain_state set finalized_block = 100')
      await hold()
      await settle()
      expect(await blocksOf()).toBe(earned(deeds).length)
      // A reorg removes blocks with their wallets, which are found again later; the join reports no change.
      const gone = await pool.query('delete from registration_wallet where block_number > 3 returning *')
      await settle()
      await insertAll(gone.rows)
      await settle()
      expect(await blocksOf()).toBe(earned(deeds).length)
    }),
    { numRuns: rounds(5, 40), endOnFailure: true },
  )
})

test('what a wallet earned is gone with its word, and comes back with it', async () => {
  const { pool } = database
  await empty(pool)
  await seedAgent(pool, { fid, addresses: [holders[0]] })
  await seedHolding(pool, { fid, chain: 'base', id: 1, by: holders[0], block: 0 })
  await seedChainState(pool, { chain: 'celo', indexed: 100, finalized: 100 })
  const [first, second] = wallets as [string, string]
  await seedWallet(pool, { id: 1, wallet: first, block: 2, at: timeOf(2) })
  await seedWallet(pool, { id: 1, wallet: second, block: 4, at: timeOf(4) })
  for (const chain of ['base', 'celo'] as const) {
    await seedSettlement(pool, { chain, recipient: first, block: 3, at: timeOf(3) })
    await seedSettlement(pool, { chain, recipient: first, block: 5, at: timeOf(5) })
  }
  await pool.query('update chain_state set finalized_block = 100')
  await insert(pool, 'agent_change', { fid, kind: 'upsert', changed_at: new Date() })
  await settle()
  expect(await blocksOf()).toBe(1) // the one between, on the registration's chain
  const gone = await pool.query('delete from registration_wallet where block_number = 4 returning *')
  await settle()
  expect(await blocksOf()).toBe(2)
  await insertAll(gone.rows)
  await settle()
  expect(await blocksOf()).toBe(1)
})

test('registrations that strangers send take no wallet and no owner away, and add no owner', async () => {
  const { pool } = database
  await empty(pool)
  await seedAgent(pool, { fid, addresses: [holders[0]] })
  const wallet = wallets[0] as string
  const seller = addressOf('seller')
  await seedHolding(pool, { fid, chain: 'base', id: 1, by: holders[0], block: 1, at: timeOf(1) })
  await seedWallet(pool, { id: 1, wallet, block: 2, at: timeOf(2) })
  await seedSettlement(pool, { chain: 'base', recipient: wallet, block: 3, at: timeOf(3) })
  const customer = addressOf('customer')
  for (const [id, to] of [
    [1, seller],
    [5_000, customer],
  ] as const) {
    const place = { chain: 'base', agent_id: id, block_number: 0, log_index: 0, block_timestamp: timeOf(0) }
    await insert(pool, 'registration_transfer', {
      id: `base-${id}-0`,
      ...place,
      to: bytes(to),
      tx_hash: bytes(hashOf('0')),
    })
  }
  await pool.query(
    `insert into agent_holding (fid, chain, agent_id, held_by, acquired_block, acquired_log_index, acquired_at, unsolicited)
     select $1, 'base', 5000 + n, $2, 3, n, $3, true from generate_series(0, 1000) n`,
    [fid, bytes(holders[0]), timeOf(3)],
  )
  await pool.query('update chain_state set finalized_block = 100')
  await insert(pool, 'agent_change', { fid, kind: 'upsert', changed_at: new Date() })
  await settle()
  expect(await blocksOf()).toBe(1)
  const { rows } = await pool.query('select address from income_owner where fid = $1', [fid])
  const owners = rows.map(({ address }) => `0x${address.toString('hex')}`)
  expect(owners).toContain(seller)
  expect(owners).not.toContain(customer)
})

test('who gets a registration after the address of the agent that held it was given up is no owner', async () => {
  const { pool } = database
  await empty(pool)
  await seedAgent(pool, { fid, addresses: [holders[0]] })
  const former = addressOf('former address')
  const released = { reason: 'verification_removed', block: 5, at: timeOf(5) } as const
  await seedHolding(pool, { fid, chain: 'base', id: 1, by: former, block: 2, at: timeOf(2), released })
  await pool.query('update agent_holding set released_block = null')
  const minter = addressOf('minter')
  const customer = addressOf('customer')
  for (const [block, to] of [
    [1, minter],
    [2, former],
    [8, customer],
  ] as const) {
    const place = { chain: 'base', agent_id: 1, block_number: block, log_index: 0, block_timestamp: timeOf(block) }
    const tx_hash = bytes(hashOf(`${block}`))
    await insert(pool, 'registration_transfer', { id: `base-${block}-0`, ...place, to: bytes(to), tx_hash })
  }
  await pool.query('update chain_state set finalized_block = 100')
  await insert(pool, 'agent_change', { fid, kind: 'upsert', changed_at: new Date() })
  await settle()
  const { rows } = await pool.query('select address from income_owner where fid = $1', [fid])
  const owners = rows.map(({ address }) => `0x${address.toString('hex')}`)
  expect(owners).toContain(minter)
  expect(owners).not.toContain(customer)
})

async function insertAll(rows: readonly Record<string, unknown>[]): Promise<void> {
  for (const row of rows) await insert(database.pool, 'registration_wallet', row)
}
