import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Queryable } from '../../db/pool.ts'
import { agentIncome, allIncome } from '../../db/queries/income/agent-income.ts'
import { deriveDemandOf } from '../../db/queries/income/demand.ts'
import { incomePayments } from '../../db/queries/income/payments.ts'
import { addToRollup, lockRollup, moveRollup } from '../../db/queries/rollup/cursor.ts'
import { rollUpSettlements } from '../../enrichment/periodic/rollup.ts'
import { testDatabase } from '../support/database.ts'
import { rowsFetched, rowsRead } from '../support/rows-read.ts'
import { addressOf, birth, insert, seedAgent, seedChainState } from '../support/seed.ts'
import { markDueEscrowHours, runIncome, sumDueEscrows, sumDueHours } from './passes.ts'

// A stranger charges and refunds as often as the gas is worth it, all to one address in one hour. Rows are counted: with
// one look at each pair for each other pair there would be millions.

const pairs = 1_000
const fid = 1
const seller = addressOf('seller')
const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
const database = testDatabase()

/** Charges of which all is a fee, or their refunds, in one block; a subject each, or one for all. */
const insertRows = (
  db: Queryable,
  kind: 'escrow_charge' | 'escrow_capture' | 'escrow_refund',
  block: number,
  subject: string,
  count = pairs,
) =>
  db.query(
    `insert into payment (id, chain, block_number, log_index, block_timestamp, kind, token, payer, payee, gross, net,
                          facilitator, tx_hash, subject)
     select 'base-' || $1::int || '-' || n, 'base', $1, n, $2, $3, $4, $5, $6, 10,
            case when $3 = 'escrow_refund' then -10 when n = ${count} then 10 else 0 end, $5, int4send(n), ${subject}
       from generate_series(1, ${count}) n`,
    [block, birth, kind, bytes(addressOf('token')), bytes(addressOf('buyer')), bytes(seller)],
  )

const statistics = {
  'of these rows': 'analyze payment',
  // Of tables that were emptied of many rows, before they were filled again.
  'of none of these rows': `update pg_class set relpages = 1000, reltuples = 1
                             where oid in ('payment'::regclass, 'escrow_part'::regclass, 'due'::regclass)`,
}

const names = Object.keys(statistics) as (keyof typeof statistics)[]

beforeAll(async () => {
  const { pool } = database
  await seedAgent(pool, { fid, addresses: [seller] })
  await insert(pool, 'agent_change', { fid, kind: 'upsert', changed_at: birth })
  await insert(pool, 'chain_contract', { chain: 'base', address: addressOf('token'), from_block: 0 })
  await seedChainState(pool, { chain: 'base', indexed: 200, finalized: 1 })
  while ((await rollUpSettlements({ pool })) + (await runIncome({ pool })) > 0);
})

// The rows of the tests before are rolled back; autovacuum takes them away at any time.
beforeEach(() => database.pool.query('vacuum payment, escrow_part, due'))

describe('thousands of refunds of a payment each', () => {
  const subject = 'sha256(int4send(n))'
  const rowsOfPair = 80
  const most = pairs * rowsOfPair
  test.each(names)(
    'are summed up, counted as demand and listed with so many rows read for each at most by statistics %s',
    async (name) => {
      const read = await rowsRead(database.pool, async (db) => {
        await insertRows(db, 'escrow_charge', 100, subject)
        await insertRows(db, 'escrow_refund', 101, subject)
        await db.query(statistics[name])
        await lockRollup(db, 'base')
        await addToRollup(db, 'base', { fromBlock: 2, toBlock: 200 })
        await moveRollup(db, 'base', 201)
        await sumDueEscrows(db, 500)
        expect(await sumDueHours(db, { hours: 500, payments: 50_000 })).toBe(1)
        const { rows } = await db.query('select n::int, amount::int from income_hour order by kind')
        expect(rows).toEqual([
          { n: 1, amount: 10 },
          { n: 0, amount: -10 },
        ])
      })
      expect(read).toBeLessThan(most)
      const after = await rowsRead(database.pool, async (db) => {
        await insertRows(db, 'escrow_charge', 100, subject)
        await insertRows(db, 'escrow_refund', 101, subject)
        await db.query(statistics[name])
        await lockRollup(db, 'base')
        await addToRollup(db, 'base', { fromBlock: 2, toBlock: 200 })
        await moveRollup(db, 'base', 201)
        await sumDueEscrows(db, 500)
        await deriveDemandOf(db, fid, birth)
        const filter = { chain: null, since: null, until: null }
        await incomePayments(db, { fid, limit: 100, order: 'desc', filter })
      })
      expect(after).toBeLessThan(2 * most)
    },
  )

  test('are marked with so many rows read for each at most when what they refund is found behind them', async () => {
    const read = await rowsRead(database.pool, async (db) => {
      await insertRows(db, 'escrow_refund', 101, subject)
      await db.query('analyze payment')
      await insertRows(db, 'escrow_charge', 100, subject)
      const { rows } = await db.query(`select count(*)::int as marked from due where kind = 'escrows'`)
      expect(rows).not.toEqual([{ marked: 0 }])
    })
    expect(read).toBeLessThan(most)
  })
})

describe('thousands of payments to others that wait before an agent’s', () => {
  const later = new Date(+birth + 3 * 3_600_000)
  /** A waiting payment of the agent's behind those of as many others, each of another operator or of one. */
  const wait = async (db: Queryable, others: number, subject: string) => {
    await db.query(
      `insert into payment (id, chain, block_number, log_index, block_timestamp, kind, token, payer, payee, gross, net,
                            facilitator, tx_hash, subject)
       select 'waits-' || n, 'base', 100, n, case when n <= $1 then $2::timestamptz else $3 end, 'escrow_charge', '\\x01', '\\x02',
              case when n <= $1 then substr(sha256(int4send(n)), 1, 20) else $4 end, 10, 10, '\\x03', int4send(n), ${subject}
         from generate_series(1, $1 + 1) n`,
      [others, birth, later, bytes(seller)],
    )
    await db.query(`delete from due where kind not in ('escrows', 'escrow hours')`)
    // As autovacuum does within a minute: by statistics of an empty queue any index of it would do.
    await db.query('analyze due, payment')
  }
  const hour = `${later.toISOString().slice(0, 13)}:00:00.000Z`

  test.for([
    ['one operator', 'sha256(int4send(0)) || int4send(n)'],
    ['an operator each', 'sha256(int4send(n))'],
  ] as const)('of %s: what waits of the agent is told, and none of theirs is read', async ([, subject]) => {
    for (const others of [10, 5 * pairs]) {
      let due: unknown
      await rowsRead(database.pool, async (db) => {
        await wait(db, others, subject)
        const before = await rowsFetched(db, ['due', 'payment'])
        due = (await agentIncome(db, fid)).due
        // Of ten others all rows may be read, a few times over.
        expect((await rowsFetched(db, ['due', 'payment'])) - before).toBeLessThan(200)
      })
      expect([others, due]).toEqual([others, hour])
    }
  })

  test('of all agents it is told, or nothing is complete since the first payment', async () => {
    const subject = 'sha256(int4send(n))'
    for (const [others, expected] of [
      [10, hour],
      [5 * pairs, birth.toISOString()],
    ] as const) {
      await rowsRead(database.pool, async (db) => {
        await wait(db, others, subject)
        expect(await allIncome(db)).toMatchObject({ due: expected })
      })
    }
  })

  test('more of the agent’s own than are looked at: nothing is complete since its first payment', async () => {
    await rowsRead(database.pool, async (db) => {
      await insertRows(db, 'escrow_charge', 90, 'sha256(int4send(n))')
      await db.query('update payment set net = 10')
      expect(await agentIncome(db, fid)).toMatchObject({ due: birth.toISOString() })
      await wait(db, 10, 'sha256(int4send(n))')
      const before = await rowsFetched(db, ['due', 'payment'])
      expect(await agentIncome(db, fid)).toMatchObject({ due: birth.toISOString() })
      expect((await rowsFetched(db, ['due', 'payment'])) - before).toBeLessThan(5 * pairs)
    })
  })
})

describe('thousands of captures and refunds of one payment', () => {
  const one = 'sha256(int4send(0))'
  // Rows are read when they are stored, when their sums are made, and for each refund that is summed up or listed.
  const most = 2 * pairs * 40

  test.each(names)('bring what they come to with so many rows read for each at most by statistics %s', async (name) => {
    const read = await rowsRead(database.pool, async (db) => {
      await insertRows(db, 'escrow_charge', 100, one)
      await db.query('update payment set net = 10')
      await insertRows(db, 'escrow_refund', 101, one)
      await db.query(statistics[name])
      await lockRollup(db, 'base')
      await addToRollup(db, 'base', { fromBlock: 2, toBlock: 200 })
      await moveRollup(db, 'base', 201)
      await sumDueEscrows(db, 500)
      await sumDueHours(db, { hours: 500, payments: 50_000 })
      const { rows } = await db.query('select n::int, amount::int from income_hour order by kind')
      expect(rows).toEqual([
        { n: pairs, amount: 10 * pairs },
        { n: 0, amount: -10 * pairs },
      ])
      const filter = { chain: null, since: null, until: null }
      const { count } = await incomePayments(db, { fid, limit: 100, order: 'desc', filter })
      expect(count).toBe(100)
    })
    expect(read).toBeLessThan(most)
  })

  test('are looked up in slices when the first capture of the payment comes behind them', async () => {
    const slice = 100
    const read = await rowsRead(database.pool, async (db) => {
      await insertRows(db, 'escrow_charge', 100, one)
      await db.query('update payment set net = 10')
      await db.query('analyze payment')
      await db.query('delete from due')
      const stored = await rowsFetched(db, ['payment'])
      await insertRows(db, 'escrow_capture', 99, one, 1)
      expect((await rowsFetched(db, ['payment'])) - stored).toBeLessThan(100)
      let slices = 0
      for (let left = 1; left > 0; slices++) {
        const before = await rowsFetched(db, ['payment'])
        left = await markDueEscrowHours(db, slice)
        expect((await rowsFetched(db, ['payment'])) - before).toBeLessThan(10 * slice)
      }
      expect(slices).toBe(1 + Math.floor((pairs + 1) / slice))
      const { rows } = await db.query(`select distinct key from due where kind = 'income hours'`)
      expect(rows).toHaveLength(1)
    })
    expect(read).toBeLessThan(most)
  })
})
