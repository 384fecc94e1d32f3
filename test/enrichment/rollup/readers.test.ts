import { afterEach, beforeEach, expect, test } from 'vitest'
import { directoryStats } from '../../../db/queries/directory/stats.ts'
import { leaderboard, leaderboardPeriods } from '../../../db/queries/leaderboard/leaderboard.ts'
import { settlementSeries } from '../../../db/queries/settlements/timeseries.ts'
import { createTestDatabase, type OwnDatabase } from '../../support/database.ts'
import { addressOf, countSettlements, seedAgent, seedChainState, seedSettlement } from '../../support/seed.ts'
import { rollUp } from './world.ts'

const hourMs = 3_600_000
const settlementOverloads = 'spec'
const agents = [1, 2, 3, 4]
/** The two addresses of an agent; agents 1 and 2 share their second one. */
const addressesOf = (fid: number) => [
  addressOf(`of ${fid}`),
  addressOf(`of ${Math.max(2, fid)} and ${fid === 1 ? 2 : fid}`),
]
const chains = ['base', 'celo'] as const
const hours = 60 * 24
/** End of the current hour in Unix milliseconds; `starts`: starts of the 30 days before it. */
const end = Math.ceil(Date.now() / hourMs) * hourMs
const starts = Array.from({ length: 30 }, (_, n) => end - (30 - n) * 24 * hourMs)

let database: OwnDatabase
beforeEach(async () => {
  database = await createTestDatabase()
})
afterEach(() => database.drop())

/** Time of a block: one an hour on both chains, half an hour from the start of any window. */
const atBlock = (block: number) => new Date(Math.floor(Date.now() / hourMs) * hourMs - (hours - block - 0.5) * hourMs)

async function seed() {
  for (const fid of agents) await seedAgent(database.pool, { fid, addresses: addressesOf(fid) })
  for (let n = 0; n < 300; n++) {
    const fid = 1 + ((n * n) % 5) // the fifth is no agent
    const block = (n * 7919) % (hours - 2)
    await seedSettlement(database.pool, {
      chain: chains[n % 2] as (typeof chains)[number],
      block,
      logIndex: n,
      at: atBlock(block),
      recipient: addressesOf(fid)[n % 3 === 0 ? 1 : 0] as string,
      payer: addressOf(`payer ${(n * n) % 11}`),
      amount: BigInt(1 + n) * 1_000n,
      selector: n % 10 === 0 ? '0xcf092995' : '0xe3ee160e',
    })
  }
}
const round = () => countSettlements(database.pool)

async function finalizeAndRollUp(block: number) {
  await database.pool.query('delete from chain_state')
  for (const chain of chains) await seedChainState(database.pool, { chain, indexed: hours, finalized: block })
  await rollUp(database, 20)
}

const ofEverybody = {
  by: 'settlements',
  chain: null,
  excludeSelf: false,
  daysAgo: null,
  now: 0,
  leftOut: () => {},
} as const
const ranking = async (period: (typeof leaderboardPeriods)[number], limit = 100) =>
  JSON.parse(await leaderboard(database.pool, { ...ofEverybody, period, limit })).agents as {
    fid: number
    settlement_count: number
    unique_payers: number
    volume_usdc: number
  }[]

/** Everything readers get from sums: rankings, totals, and days of each agent. */
async function answers() {
  const stats = JSON.parse(await directoryStats(database.pool))
  return {
    rankings: await Promise.all(leaderboardPeriods.map((period) => ranking(period))),
    totals: stats.settlements,
    days: await Promise.all(
      agents.map((fid) =>
        settlementSeries(database.pool, { fid, starts, end, chain: null, settlementOverloads, payersUpTo: 1_000 }),
      ),
    ),
  }
}

/** The rows of a ranking over some days, counted from the settlements. */
async function counted(days: number) {
  const { rows } = await database.pool.query(
    `select a.fid::int, count(*)::int as settlement_count, count(distinct s.payer)::int as unique_payers,
            (sum(s.amount) * 0.000001)::float8 as volume_usdc
       from agent a
       join settlement s on s.recipient = any (a.verified_addresses)
      where s.selector = '\\xe3ee160e' and s.block_timestamp > now() - $1 * interval '1 day'
      group by a.fid
      order by count(*) desc, sum(s.amount) desc, a.fid`,
    [days],
  )
  return rows
}

test('what readers are told is the same however far settlements are rolled up', async () => {
  await seed()
  await round()
  const unrolled = await answers()
  for (const [index, days] of [7, 30, 10_000].entries()) {
    expect(unrolled.rankings[index]).toMatchObject(await counted(days))
  }
  const [first] = unrolled.rankings[2] ?? []
  expect(first?.unique_payers).toBeGreaterThan(3)
  for (const block of [hours / 2, hours - 20, hours]) {
    await finalizeAndRollUp(block)
    expect(await answers()).toEqual(unrolled)
    await round()
    expect(await answers()).toEqual(unrolled)
  }
})

test('a ranking stays as it was counted, and knows who was paid since after the next round', async () => {
  await seed()
  await seedAgent(database.pool, { fid: 9, addresses: [addressOf('newcomer')] })
  await round()
  await finalizeAndRollUp(hours)
  const before = await ranking('7d')
  const pay = async (recipient: string, first: number) => {
    for (let n = 0; n < 200; n++) {
      const settlement = { chain: 'base', block: hours + 10, at: new Date(), recipient, logIndex: first + n } as const
      await seedSettlement(database.pool, settlement)
    }
  }
  await pay(addressesOf(before.at(-1)?.fid ?? 0)[0] as string, 0)
  await pay(addressOf('newcomer'), 1_000)
  expect(await ranking('7d')).toEqual(before)
  await round()
  expect(await ranking('7d')).toMatchObject(await counted(7))
  expect(await ranking('7d', 1)).toHaveLength(1)
})

test('addresses that no agent has any more are not counted, and those that did not move are not written', async () => {
  await seed()
  await round()
  const rows = async () =>
    (await database.pool.query('select address, ctid, xmin, xmax from recipient_counts order by address')).rows
  const before = await rows()
  await round()
  expect(await rows()).toEqual(before)
  await database.pool.query('delete from agent where fid = 4')
  await round()
  const { rows: foreign } = await database.pool.query(`
    select from recipient_counts where address not in (select unnest(verified_addresses) from agent)`)
  expect(foreign).toEqual([])
  expect((await rows()).length).toBeLessThan(before.length)
})
