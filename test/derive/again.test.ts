import type pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../../db/pool.ts'
import { deriveAgain } from '../../derive/again.ts'
import { derivations } from '../../derive/derivations.ts'
import { mintTo } from '../enrichment/upstreams/job.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, seedChainState, seedSettlement } from '../support/seed.ts'
import { deriveAll, storedRows } from './again.ts'

const database = testDatabase()
let pool: pg.Pool
let context: { pool: pg.Pool; now: () => Date; settlementOverloads: 'spec' }
const fids = Array.from({ length: 12 }, (_, index) => index + 1)
const walletOf = (fid: number) => addressOf(`wallet of ${fid}`)

beforeAll(async () => {
  pool = database.pool
  context = { pool, now: () => new Date('2026-06-01T00:00:00Z'), settlementOverloads: 'spec' }
  for (const fid of fids) await mintTo(pool, { fid, addresses: [walletOf(fid)] })
  await pool.query(
    `insert into social_follow (fid, targets, followed_at)
     select n, array[n % 12 + 1, (n + 4) % 12 + 1], array[timestamptz '2026-01-01', '2026-02-01'] from generate_series(1, 12) n`,
  )
  await seedChainState(pool, { chain: 'base', indexed: 1_000, finalized: 1_000 })
  // A ring of three, and a chain through the others.
  const pairs = [[1, 2], [2, 3], [3, 1], ...fids.slice(3, -1).map((fid) => [fid, fid + 1])] as [number, number][]
  for (const [number, [from, to]] of pairs.entries()) {
    await seedSettlement(pool, {
      chain: 'base',
      block: 100 + number,
      payer: walletOf(from),
      recipient: walletOf(to),
      amount: 5_000_000n,
    })
  }
  await deriveAll(context)
})

const again = (kinds = [...derivations] as (typeof derivations)[number][]) =>
  deriveAgain({ kinds, context, tell: () => {} })

test('deriving everything again changes no row', async () => {
  const before = await storedRows(pool)
  for (const table of [
    'agent',
    'agent_edge',
    'agent_holding',
    'income_hour',
    'income_total',
    'income_agent',
    'income_ring',
  ])
    expect(before[table], table).not.toEqual([])
  const lines: string[] = []
  expect(await deriveAgain({ kinds: derivations, context, tell: (line) => lines.push(line) })).toBe(0)
  expect(lines).toContainEqual(expect.stringMatching(/^agents: 12 keys in /))
  expect(await storedRows(pool)).toEqual(before)
})

test('what is lost unseen comes back', async () => {
  const before = await storedRows(pool)
  await inTransaction(pool, async (db) => {
    await db.query(`set local session_replication_role = replica`) // no trigger tells
    for (const table of [
      'agent_edge',
      'agent_site',
      'agent_input',
      'income_ring',
      'circle_reach',
      'income_owner',
      'income_agent',
    ])
      await db.query(`delete from ${table}`)
    await db.query('update income_total set n = n + 1, dust_amount = dust_amount + 7')
    await db.query(
      `insert into income_total select chain, 'forwarded', flag, x402, 1, 2, 3, 4, 5 from income_total limit 1`,
    )
    await db.query(`update agent set claimed = true, chains = '{}' where fid % 2 = 0`)
    await db.query('delete from agent_holding where fid % 3 = 0')
  })
  expect(await storedRows(pool)).not.toEqual(before)
  expect(await again()).toBe(0)
  const after = await storedRows(pool)
  const derived = Object.keys(before).filter((name) =>
    /^(agent_(edge|site|holding|input)|income_\w+|circle_reach)$/.test(name),
  )
  after.income_total = after.income_total!.filter((row) => !row.endsWith(',0,0,0,0,0)')) // of nothing: it may stay
  for (const name of derived) expect(after[name], name).toEqual(before[name])
  const { rows } = await pool.query(`select from agent where claimed or chains <> '{base}'`)
  expect(rows).toEqual([])
})
