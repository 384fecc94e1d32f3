import pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import type { Queryable } from '../../../db/pool.ts'
import { agentIncome, allIncome } from '../../../db/queries/income/agent-income.ts'
import { deriveDemandOf } from '../../../db/queries/income/demand.ts'
import { countedIncomePayments, incomePayments } from '../../../db/queries/income/payments.ts'
import { addToRollup, lockRollup, moveRollup } from '../../../db/queries/rollup/cursor.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { runIncome, sumDueHours } from '../../derive/passes.ts'
import { testDatabase } from '../../support/database.ts'
import { rounds } from '../../support/rounds.ts'
import { rowsFetched, rowsRead } from '../../support/rows-read.ts'
import { addressOf, insert, seedAgent, seedChainState, seedPayment, seedSettlement } from '../../support/seed.ts'

// Rows read by a pass and by a query over an agent with very many payments, half of them settlements. Rows are counted,
// because a difference in time shows only with millions of them.

const paid = Number(process.env.INCOME_VOLUME ?? rounds(5_000, 250_000))
const days = 60
/** Timeout in milliseconds for loading some millions of payments on a slow machine. */
const loadingMs = 6 * 3_600_000
const fid = 1
const busy = addressOf('busy')
const start = new Date('2026-03-01T00:00:00.000Z')
const end = new Date(start.getTime() + (days + 1) * 86_400_000)

const database = testDatabase()
beforeAll(async () => {
  const { pool } = database
  await seedAgent(pool, { fid, addresses: [busy] })
  await insert(pool, 'agent_change', { fid, kind: 'upsert', changed_at: start })
  // A connection of its own: on a slow machine the inserts take longer than the pool's statement timeout.
  const loader = new pg.Client({ connectionString: database.url })
  await loader.connect()
  const values = [paid, Buffer.from(busy.slice(2), 'hex'), start, days]
  const at = `$3::timestamptz + n * ($4::int * interval '1 day') / $1::int`
  await loader.query(
    `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token,
                               payer, recipient, facilitator, payment_nonce, tx_hash)
       select n, ${at}, n, 0, 'base', 'c', '\\xe3ee160e', '\\x01', int4send(n % 90), $2, '\\x02', int4send(n), int4send(n)
         from generate_series(1, $1::int) n`,
    values,
  )
  await loader.query(
    `insert into payment (id, chain, block_number, log_index, block_timestamp, kind, token, payer, payee, gross, net,
                            facilitator, tx_hash, forwarder, origin_log_index, depth)
       select 'base-' || n || '-1', 'base', n, 1, ${at}, case when n % 2 = 0 then 'forwarded' else 'permit2_exact' end, '\\x01',
              int4send(n % 90), $2, n, n, '\\x02', int4send(n), case when n % 2 = 0 then '\\x03'::bytea end,
              case when n % 2 = 0 then 0 end, case when n % 2 = 0 then 1 end
         from generate_series(1, $1::int) n`,
    values,
  )
  await insert(pool, 'chain_contract', { chain: 'base', address: '0x01', from_block: 0 })
  await seedChainState(pool, { chain: 'base', indexed: paid + 1, finalized: paid })
  while ((await rollUpSettlements({ pool })) + (await runIncome({ pool })) > 0);
  // Hours of many other recipients: in a table of one agent's rows alone, a full scan would not stand out.
  await loader.query(
    `insert into settlement_hourly (recipient, hour, chain, overload, first_block, last_block, n, amount)
       select int4send(n / 100), $1::timestamptz + n % 100 * interval '1 hour', 'base', false, n, n, 1, 1
         from generate_series(1, 100000) n`,
    [start],
  )
  await loader.query(
    `insert into income_hour (fid, hour, recipient, chain, kind, flag, x402, passed_on, first_at, last_at, n, amount, dust_n,
                              dust_amount, other_n)
       select 2, hour, recipient, chain, 'eip3009_vrs', 'none', false, false, hour, hour, 1, 1, 0, 0, 0
         from settlement_hourly where recipient <> $1`,
    [Buffer.from(busy.slice(2), 'hex')],
  )
  await loader.query('vacuum (analyze)')
  await loader.end()
  await seedSettlement(pool, { chain: 'base', recipient: busy, block: paid + 1, at: end })
  const one = { payee: busy, payer: addressOf('payer'), block: paid + 1, at: end, amount: 1n }
  await seedPayment(pool, { ...one, kind: 'permit2_upto', logIndex: 1 })
}, loadingMs)

/** Patterns of the tables of payments and of everything derived from them. */
const tables = ['settlement%', 'income%', 'payment%']

/** Most rows that a round reads for each further payment, the payment's own row included. */
const rowsOfPayment = 20
/** Adds a block of `more` settlements and `more` other payments, all by earlier payers, and runs a round over it. */
const roundOver = (more: number) => async (db: Queryable) => {
  const values = [more, paid + 2, Buffer.from(busy.slice(2), 'hex'), end]
  await db.query(
    `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token,
                               payer, recipient, facilitator, payment_nonce, tx_hash)
       select n, $4, $2::int, n, 'base', 'c', '\\xe3ee160e', '\\x01', int4send(n % 90), $3, '\\x02', int4send(n), int4send($2)
         from generate_series(1, $1::int) n`,
    values,
  )
  await db.query(
    `insert into payment (id, chain, block_number, log_index, block_timestamp, kind, token, payer, payee, gross, net, facilitator, tx_hash)
       select 'more-' || n, 'base', $2::int, $1::int + n, $4::timestamptz, 'permit2_exact', '\\x01', int4send(n % 90), $3, n, n, '\\x02', int4send($2)
         from generate_series(1, $1::int) n`,
    values,
  )
  await lockRollup(db, 'base')
  await addToRollup(db, 'base', { fromBlock: paid + 1, toBlock: paid + 2 })
  await moveRollup(db, 'base', paid + 3)
  expect(await sumDueHours(db, { hours: 500, payments: 50_000 })).toBe(1)
}

// The agent is paid every hour and has more hours than these bounds, so reading all its hours would fail them.
test.each([
  [
    'a pass over one block more',
    1_000,
    async (db: Queryable) => {
      await lockRollup(db, 'base')
      await addToRollup(db, 'base', { fromBlock: paid + 1, toBlock: paid + 1 })
      await moveRollup(db, 'base', paid + 2)
      expect(await sumDueHours(db, { hours: 500, payments: 50_000 })).toBe(1)
    },
  ],
  ['a round over ten payments more', 1_000, roundOver(5)],
  ['a round over a thousand payments more', 1_000 + 1_000 * rowsOfPayment, roundOver(500)],
  [
    'a page of payments',
    1_000,
    async (db: Queryable) => {
      const filter = { chain: null, since: null, until: null }
      expect((await incomePayments(db, { fid, limit: 20, order: 'desc', filter })).count).toBe(20)
    },
  ],
  [
    'a file that would have too many lines', // three queries, each over hours of three kinds
    3 * (days * 24 * 3 + 100),
    async (db: Queryable) => {
      const all = { chain: null, since: null, until: null }
      expect(await countedIncomePayments(db, { fid, filter: all })).toBe(2 * paid)
      const since = new Date(start.getTime() + 1_000).toISOString()
      const until = end.toISOString()
      const part = await countedIncomePayments(db, { fid, filter: { chain: ['base'], since, until } })
      expect(part).toBeGreaterThan(paid)
      expect(part).toBeLessThan(2 * paid)
      expect(await countedIncomePayments(db, { fid, filter: { chain: ['celo'], since: null, until: null } })).toBe(0)
    },
  ],
  ['the sums over all agents', 100, (db: Queryable) => allIncome(db)],
])('%s reads at most %i rows, however many there are', async (_, most, statement) => {
  expect(await rowsRead(database.pool, statement, tables)).toBeLessThanOrEqual(most)
})

// Each block moves the marks, so a long snapshot leaves thousands of their dead rows; read once, they cost little.
test.each([
  [
    'a page of a thousand payments',
    async (db: Queryable) => {
      const filter = { chain: null, since: null, until: null }
      expect((await incomePayments(db, { fid, limit: 1_000, order: 'asc', filter })).count).toBe(1_000)
    },
  ],
  ['the sums of an agent', (db: Queryable) => agentIncome(db, fid)],
])('%s reads how far is rolled up once, not for each payment', async (_, statement) => {
  expect(await rowsRead(database.pool, statement, ['settlement_rollup%'])).toBeLessThanOrEqual(100)
})

// The addresses lead to the payments: only what was passed on, half of the other payments, is asked whether it came over one.
test('a page of a thousand payments reads the addresses of agents once, not for each payment', async () => {
  const page = async (db: Queryable) => {
    const filter = { chain: null, since: null, until: null }
    expect((await incomePayments(db, { fid, limit: 1_000, order: 'asc', filter })).count).toBe(1_000)
  }
  expect(await rowsRead(database.pool, page, ['income_address'])).toBeLessThanOrEqual(510)
})

test.each<[string, (db: Queryable) => Promise<unknown>]>([
  [
    'a page of a thousand payments',
    (db) => incomePayments(db, { fid, limit: 1_000, order: 'asc', filter: { chain: null, since: null, until: null } }),
  ],
  ['the sums of an agent', (db) => agentIncome(db, fid)],
  ['the demand', (db) => deriveDemandOf(db, fid, end)],
])('%s looks up whose own the payers are, and whose money goes round, for all at once', async (_, statement) => {
  expect(await rowsRead(database.pool, statement, ['income_owner', 'income_ring'])).toBeLessThanOrEqual(20)
})

const hoursLater = (hours: number) => new Date(start.getTime() + hours * 3_600_000).toISOString()
const firstHour = [hoursLater(0), hoursLater(1)] as const
const lastHour = [end.toISOString(), 'infinity'] as const
/** Settlements of the first hour, and as many other payments. */
const paidInFirstHour = 2 * Math.floor(paid / days / 24)

// The wallet's payments between are not the agent's, and none of them is looked at.
test.each([
  ['named after most of its payments', [lastHour], 2],
  ['replaced before most of its payments', [firstHour], paidInFirstHour],
  ['named, replaced and named again', [firstHour, lastHour, [hoursLater(0.5), hoursLater(1)]], paidInFirstHour + 2],
] as const)(
  'payments to a wallet that was %s are found without the others, from either end',
  async (_, named, count) => {
    for (const order of ['asc', 'desc'] as const) {
      const read = await rowsRead(
        database.pool,
        async (db) => {
          for (const period of named) {
            const text = `insert into income_address (fid, address, chain, from_at, to_at) values (3, $1, 'base', $2, $3)`
            await db.query(text, [Buffer.from(busy.slice(2), 'hex'), ...period])
          }
          const filter = { chain: null, since: null, until: null }
          const page = await incomePayments(db, { fid: 3, limit: 1_000, order, filter })
          expect(page.count).toBe(Math.min(count, 1_000))
        },
        tables,
      )
      expect(read).toBeLessThanOrEqual(1_000 + rowsOfPayment * Math.min(count, 1_000))
    }
  },
)

test('payments to a wallet are not searched on other chains than that of its registration', async () => {
  const read = (chain: string) =>
    rowsRead(
      database.pool,
      async (db) => {
        const text = `insert into income_address (fid, address, chain, from_at, to_at) values (3, $1, $2, $3, 'infinity')`
        await db.query(text, [Buffer.from(busy.slice(2), 'hex'), chain, start])
        const filter = { chain: null, since: null, until: null }
        await incomePayments(db, { fid: 3, limit: 1_000, order: 'desc', filter })
      },
      ['settlement_base%'],
    )
  expect(await read('base')).toBeGreaterThan(500)
  expect(await read('celo')).toBeLessThan(10)
})

test('sums of an agent read its hours, and who paid while there are few enough', async () => {
  const { members } = await agentIncome(database.pool, fid)
  expect(JSON.parse(members.raw ?? '')).toMatchObject({ payments: 2 * paid })
  const hours = days * 24 * 3
  // The bound includes the rows read to find out that there are too many payers to count.
  expect(await rowsRead(database.pool, (db) => agentIncome(db, fid), tables)).toBeLessThanOrEqual(hours + 4 * 20_000)
})

const partOwn = Buffer.from([0, 0, 0, 7])
const halfway = new Date((+start + +end) / 2)
/**
 * What is derived of the agent once one of its payers became a wallet of its own halfway, which then signed so many settlements to
 * others, and the rows that are read for it beyond those that were read before.
 */
async function demandWithOwn(elsewhere: number) {
  const client = await database.pool.connect()
  const derive = async () => {
    const before = await rowsFetched(client, tables)
    await deriveDemandOf(client, fid, end)
    return (await rowsFetched(client, tables)) - before
  }
  try {
    await client.query('begin')
    const read = await derive()
    await client.query(
      `insert into income_owner (fid, address, because, from_at, to_at) values ($1, $2, 'wallet', $3, 'infinity')`,
      [fid, partOwn, halfway],
    )
    await client.query(
      `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token,
                               payer, recipient, facilitator, payment_nonce, tx_hash)
       select n, $1, $2::int, n, 'base', 'c', '\\xe3ee160e', '\\x01', $3, '\\x04', '\\x02', int4send(n), int4send(n)
         from generate_series(1, $4::int) n`,
      [end, paid + 3, partOwn, elsewhere],
    )
    const more = (await derive()) - read
    const { rows } = await client.query<{ payers: number; amount: string }>(
      `select payers::int, amount::text from agent_demand where fid = $1 and chain = ''`,
      [fid],
    )
    return { more, ...rows[0] }
  } finally {
    await client.query('rollback')
    client.release(true)
  }
}
/** What the payments come to, of some without those that the payer made of itself. */
async function paidWithoutOwn(tables: readonly string[]) {
  const { rows } = await database.pool.query<{ amount: string }>(
    `select sum(amount)::text as amount
       from (select 'settlement' as kind, payer, amount, block_timestamp from settlement where block_number <= $1
              union all
             select 'payment', payer, net, block_timestamp from payment where block_number <= $1) one
      where payer <> $2 or block_timestamp < $3 or kind <> all ($4)`,
    [paid, partOwn, halfway, tables],
  )
  return rows[0]?.amount
}

test('of a payer that became the agent itself its settlements are read once, and those before count', async () => {
  const { more, ...told } = await demandWithOwn(0)
  expect(told).toEqual({ payers: 90, amount: await paidWithoutOwn(['settlement', 'payment']) })
  expect(more).toBeLessThanOrEqual(Math.ceil(paid / 90) + 20)
})

test('of a payer that became the agent itself and signs too many elsewhere, the first settlement tells of all', async () => {
  const { more, ...told } = await demandWithOwn(30_000)
  expect(told).toEqual({ payers: 90, amount: await paidWithoutOwn(['payment']) })
  expect(more).toBeLessThanOrEqual(20_001 + 20)
})
