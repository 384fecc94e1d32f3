import { beforeAll, expect, test, vi } from 'vitest'
import { settlementChains } from '../../config/chains.ts'
import type { Queryable } from '../../db/pool.ts'
import { addressPortfolio } from '../../db/queries/addresses/portfolio.ts'
import { agentProfile, agentProfiles } from '../../db/queries/agents/profile.ts'
import { directoryStats } from '../../db/queries/directory/stats.ts'
import { leaderboard } from '../../db/queries/leaderboard/leaderboard.ts'
import { allSettlements } from '../../db/queries/settlements/all-settlements.ts'
import { agentSettlements, settlementPage } from '../../db/queries/settlements/settlements.ts'
import { settlementSeries } from '../../db/queries/settlements/timeseries.ts'
import { rollUpSettlements } from '../../enrichment/periodic/rollup.ts'
import { testDatabase } from '../support/database.ts'
import { planned } from '../support/recording.ts'
import { rowsRead } from '../support/rows-read.ts'
import { addressOf, countSettlements, seedAgent, seedChainState } from '../support/seed.ts'

// Rows of settlements and hourly sums that a statement reads for an agent paid ten thousand times, among others paid
// some dozens of times. Timings would show a difference only with millions.

const paid = 10_000
const settlementOverloads = 'spec'
const fid = 1
const installation = { registries: {} as never, baseUrl: '' }

const database = testDatabase()
beforeAll(async () => {
  const { pool } = database
  const busy = addressOf('busy')
  await seedAgent(pool, { fid, addresses: [busy, addressOf('its second')] })
  await pool.query(
    `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token,
                             payer, recipient, facilitator, payment_nonce, tx_hash)
     select n, now() - ($1 - n) * interval '10 minutes', n * 3000, who, 'base', 'c', '\\xe3ee160e', '\\x01', int4send(n % 9),
            case who when 0 then $2 else int4send(n % 150) end, '\\x02', int4send(n), int4send(n)
       from generate_series(1, $1::int) n, generate_series(0, 1) who`,
    [paid, Buffer.from(busy.slice(2), 'hex')],
  )
  await seedChainState(pool, { chain: 'base', indexed: paid * 3_000, finalized: (paid - 20) * 3_000 })
  while ((await rollUpSettlements({ pool })) > 0);
  await countSettlements(pool)
  await pool.query('vacuum (analyze)')
})

/** Callback for agents whose rows cannot be read: there are none here. */
const leftOut = () => {}
const ofAll = { chain: null, settlementOverloads, payersUpTo: 2_000 } as const
const lastDays = (days: number) => {
  const end = Math.ceil((Date.now() + 1) / 86_400_000) * 86_400_000
  return { starts: Array.from({ length: days }, (_, n) => end - (days - n) * 86_400_000), end }
}
const ranking = { period: '30d', by: 'payers', chain: 'base', excludeSelf: true, limit: 100, now: 0, leftOut } as const
const filter = { chain: null, facilitator: null, selector: null, min_amount: null, max_amount: null, final: null }
const paidBy = {
  limit: 20,
  order: 'desc',
  after: undefined,
  settlementOverloads,
  filter: { ...filter, payer: addressOf('nobody'), since: null, until: null },
} as const

test.each([
  ['its settlements', 300, (db: Queryable) => agentSettlements(db, { fid, limit: 100, settlementOverloads })],
  ['its profile', 1_500, (db: Queryable) => agentProfile(db, { fid, settlementOverloads, installation })],
  ['its days', 1_500, (db: Queryable) => settlementSeries(db, { fid, ...lastDays(30), ...ofAll })],
  ['a ranking', 0, (db: Queryable) => leaderboard(db, { ...ranking, by: 'settlements', daysAgo: null })],
  ['a ranking by payers', 0, (db: Queryable) => leaderboard(db, { ...ranking, daysAgo: 1 })],
  ['its payments by nobody', 1_500, (db: Queryable) => settlementPage(db, { ...paidBy, fid, mostExamined: 500 })],
  [
    'payments by nobody, to it',
    1_500,
    (db: Queryable) =>
      allSettlements(db, {
        ...paidBy,
        filter: { ...paidBy.filter, fid: '1', recipient: null, tx_hash: null },
        mostExamined: 500,
      }),
  ],
  [
    'payments by nobody, to anybody',
    100,
    (db: Queryable) =>
      allSettlements(db, { ...paidBy, filter: { ...paidBy.filter, fid: null, recipient: null, tx_hash: null } }),
  ],
  ['its portfolio', 300, (db: Queryable) => addressPortfolio(db, { address: addressOf('busy'), settlementOverloads })],
  ['the totals', 0, (db: Queryable) => directoryStats(db)],
])('for %s at most %i rows are read', async (_, most, statement) => {
  expect(await rowsRead(database.pool, statement, ['settlement%'])).toBeLessThanOrEqual(most)
})

const settlementPartitions = (plan: readonly string[]) =>
  plan.filter((line) => settlementChains().some((chain) => line.includes(` on settlement_${chain}`)))

test('a profile names no partition of settlements, of which there is one more for every million blocks', async () => {
  const { pool } = database
  const profile = (db: Queryable) => agentProfile(db, { fid, settlementOverloads, installation })
  const { answer, plan } = await planned(pool, profile)
  const body = JSON.parse(answer ?? '')
  expect(body.settlements_all).toBe(paid)
  const scanned = plan.filter((line) => / on settlement/.test(line))
  expect(scanned.join()).toContain('settlement_total')
  expect(settlementPartitions(scanned)).toEqual([])
})

test('of a batch of profiles, what is not in the sums is counted once, and no partition is named', async () => {
  const { answer, plan } = await planned(database.pool, (db) =>
    agentProfiles(db, { fids: [fid], addresses: [], settlementOverloads, installation }),
  )
  expect(JSON.parse(answer.agents)[0].settlements_all).toBe(paid)
  const counted = plan.filter((line) => line.includes('Function Scan on settlements_beside'))
  expect(counted).toEqual([expect.stringContaining('settlements_beside_sums')])
  expect(settlementPartitions(plan)).toEqual([])
})

test('whether clients of feedback paid is looked up by agent and client, not among all who paid either', async () => {
  const { plan } = await planned(database.pool, (db) => agentProfile(db, { fid, settlementOverloads, installation }))
  const looked = plan.filter((line) => line.includes('settlement_payer'))
  expect(looked).toEqual([expect.stringContaining('settlement_payer_pkey')])
})

test('a search of two addresses ends for both where it ends for the one that is paid more', async () => {
  const { pool } = database
  await seedAgent(pool, { fid: 2, addresses: ['0x00000007', addressOf('busy')] })
  const page = (db: Queryable) => settlementPage(db, { ...paidBy, fid: 2, mostExamined: 60 })
  expect(await rowsRead(pool, page, ['settlement_hourly'])).toBeLessThanOrEqual(40)
})

test('pages of settlements to an agent are planned once on a connection, whoever paid; a few kinds of them in all', async () => {
  vi.resetModules() // queries of other test files in this worker have names already
  const read = await import('../../db/queries/settlements/settlements.ts')
  const { allSettlements: readAll } = await import('../../db/queries/settlements/all-settlements.ts')
  const client = await database.pool.connect()
  try {
    const plans = async () =>
      (await client.query(`select generic_plans::int as kept from pg_prepared_statements where not name like '%-%'`))
        .rows
    for (let n = 0; n < 8; n++) {
      const asked = { ...paidBy, filter: { ...paidBy.filter, payer: addressOf(`payer ${n}`) } }
      await read.settlementPage(client, { ...asked, fid })
      await readAll(client, { ...asked, filter: { ...asked.filter, fid: '1', recipient: null, tx_hash: null } })
      await readAll(client, { ...asked, filter: { ...asked.filter, fid: null, recipient: null, tx_hash: null } })
    }
    expect(await plans()).toEqual([{ kept: 3 }, { kept: 3 }])
    for (const order of ['asc', 'desc'] as const)
      for (const since of [null, '2026-01-01T00:00:00Z'])
        for (const final of [null, true, false])
          for (const max of [null, '9'])
            await read.settlementPage(client, {
              ...paidBy,
              fid,
              order,
              filter: { ...paidBy.filter, since, final, max_amount: max },
            })
    expect(await plans()).toHaveLength(8)
  } finally {
    client.release(true)
  }
})
