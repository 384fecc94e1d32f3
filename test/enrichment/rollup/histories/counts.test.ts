import { beforeEach, expect, test } from 'vitest'
import { refreshCounts } from '../../../../enrichment/periodic/rollup.ts'
import { testDatabase } from '../../../support/database.ts'
import { seedAgent } from '../../../support/seed.ts'
import { empty, finalize, recipients, rollUp, store, timeOf } from '../world.ts'
import { expectCounts } from './count-oracle.ts'

const database = testDatabase()
const hourMs = 3_600_000
const spans = [1, 7, 30].map((days) => days * 24 * hourMs)

beforeEach(async () => {
  await empty(database)
  await database.pool.query('truncate agent, verified_address, due, recipient_counts')
  for (const fid of [1, 2]) await seedAgent(database.pool, { fid, addresses: [recipients[fid] as string] })
})

const context = (now: Date, settlementOverloads: 'spec' | 'all' = 'spec') => ({
  pool: database.pool,
  now: () => now,
  settlementOverloads,
})
const paid = (block: number, recipient: number, logIndex: number) => ({
  chain: 'base' as const,
  block,
  logIndex,
  recipient,
  payer: 0,
  selector: 0,
  amount: 5n,
})

test('counts come due by themselves when a settlement leaves a window, and not before', async () => {
  const { pool } = database
  const blocks = [0, 1, 5, 50]
  await store(
    pool,
    blocks.map((block, index) => paid(block, 1 + (index % 2), index)),
  )
  await finalize(database, 'base', 100)
  await rollUp(database, 10)
  let now = timeOf(60)
  const leaving = spans
    .flatMap((span) => blocks.map((block) => +timeOf(block) + span))
    .filter((at) => at > +now)
    .sort((one, other) => one - other)
  expect(leaving).not.toEqual([])
  const stored = async () => (await pool.query('select address, xmin::text from recipient_counts order by 1')).rows
  await refreshCounts(context(now))
  await expectCounts(pool, { now, settlementOverloads: 'spec' })
  for (const at of leaving) {
    const before = await stored()
    now = new Date(at - 1)
    await refreshCounts(context(now))
    expect(await stored()).toEqual(before)
    await expectCounts(pool, { now, settlementOverloads: 'spec' })
    now = new Date(at)
    await refreshCounts(context(now))
    expect(await stored()).not.toEqual(before)
    await expectCounts(pool, { now, settlementOverloads: 'spec' })
  }
})

test('counts of blocks that are undone before they are final go with them', async () => {
  const { pool } = database
  const now = timeOf(60)
  const round = async () => {
    await refreshCounts(context(now))
    await expectCounts(pool, { now, settlementOverloads: 'spec' })
  }
  await store(pool, [paid(10, 1, 0), paid(50, 1, 1)])
  await finalize(database, 'base', 40)
  await rollUp(database, 10)
  await round()
  await pool.query('delete from settlement where block_number = 50')
  await round()
  await store(pool, [paid(51, 2, 2)])
  await round()
})

test('counts are those of what counts now, by a clock that may be set back', async () => {
  const { pool } = database
  await store(pool, [paid(10, 1, 0), { ...paid(50, 1, 1), selector: 2 }])
  await finalize(database, 'base', 100)
  await rollUp(database, 10)
  const late = new Date(+timeOf(50) + 29 * 24 * hourMs)
  for (const [now, overloads] of [
    [timeOf(60), 'spec'],
    [timeOf(60), 'all'],
    [late, 'all'],
    [timeOf(60), 'all'],
    [timeOf(60), 'spec'],
  ] as const) {
    await refreshCounts(context(now, overloads))
    await expectCounts(pool, { now, settlementOverloads: overloads })
  }
})

test('a count that is stored while its agent loses the address is forgotten', async () => {
  const { pool } = database
  const now = timeOf(60)
  await refreshCounts(context(now))
  await pool.query(`update agent set verified_addresses = '{}' where fid = 1`)
  await refreshCounts(context(now))
  const [address] = (await pool.query('select address from verified_address where fid = 1')).rows
  // As by a transaction that had read the agent before.
  await pool.query(
    `insert into recipient_counts (address, last_24h, last_7d, last_30d, ever)
     values ($1, 0, 0, 0, 0)`,
    [address.address],
  )
  await refreshCounts(context(now))
  await expectCounts(pool, { now, settlementOverloads: 'spec' })
})
