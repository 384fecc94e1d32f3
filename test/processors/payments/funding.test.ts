import type pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import type { ChainSettings } from '../../../config/chains.file.ts'
import { chains } from '../../../config/chains.ts'
import { inTransaction, type Queryable } from '../../../db/pool.ts'
import { writeContracts } from '../../../db/queries/chain/contracts.ts'
import { insertPayments } from '../../../db/queries/chain/payments/payments.ts'
import { markLater, takeDue } from '../../../db/queries/due/queue.ts'
import type { Derivation } from '../../../derive/derivation.ts'
import { derivations } from '../../../derive/derivations.ts'
import { deriveFunders } from '../../../derive/income.ts'
import { settle } from '../../../derive/pass.ts'
import { mendRange } from '../../../processors/audit/mend.ts'
import type { PaymentRow } from '../../../processors/mapping/payments.ts'
import { jsonPages } from '../../../processors/store/json-rows.ts'
import { toPayment } from '../../../processors/store/settlement-record.ts'
import { testDatabase } from '../../support/database.ts'
import { rounds } from '../../support/rounds.ts'
import { addressOf, birth, hashOf, seedChainState } from '../../support/seed.ts'
import { until } from '../../support/until.ts'

// Payments that find who paid in other rows of their subject: how much that reads, and who waits for whom.

const database = testDatabase()
const contract = addressOf('jobs')
const client = addressOf('client')
const seller = addressOf('seller')
const chain = { ...chains.base, name: 'base' } as unknown as ChainSettings

type Kind = 'job_funding' | 'job_release' | 'batch_deposit' | 'batch_claim'
function row(kind: Kind, block: number, subject: string, more: Partial<PaymentRow> = {}): PaymentRow {
  const isPaid = kind === 'job_release' || kind === 'batch_claim'
  return {
    chain: 'base',
    blockNumber: block,
    logIndex: 0,
    blockTimestamp: +birth,
    kind,
    token: addressOf('token'),
    payer: kind === 'job_release' ? contract : client,
    payee: kind === 'job_funding' ? contract : seller,
    gross: 5n,
    net: isPaid ? 5n : 0n,
    facilitator: addressOf('facilitator'),
    txHash: hashOf(`tx ${block}`),
    forwarder: null,
    originLogIndex: null,
    depth: null,
    subject,
    ...more,
  }
}
const jobOf = (number: number) => `${contract}${number.toString(16).padStart(64, '0')}`
async function store(db: Queryable, ...rows: PaymentRow[]) {
  for (const page of jsonPages(rows.map(toPayment))) await insertPayments(db, page)
}
const payersOf = async (db: Queryable, subject: string) => {
  const { rows } = await db.query<{ payer: string; n: number }>(
    `select '0x' || encode(coalesce(funder, payer), 'hex') as payer, count(*)::int as n
       from payment where subject = $1 and kind in ('job_release', 'batch_claim') group by 1`,
    [Buffer.from(subject.slice(2), 'hex')],
  )
  return Object.fromEntries(rows.map(({ payer, n }) => [payer, n]))
}
const isWaiting = async () => {
  const { rows } = await database.pool.query('select from pg_locks where not granted')
  return rows.length > 0
}

const funders = derivations.find(({ kind }) => kind === 'funders') as Derivation
const context = () => ({ pool: database.pool, now: () => new Date(), settlementOverloads: 'spec' }) as const

beforeAll(async () => {
  await seedChainState(database.pool, { chain: 'base', indexed: 1_000_000, finalized: 900_000, at: birth })
  await writeContracts(database.pool, 'base', [{ address: addressOf('token'), fromBlock: 0 }])
})

test('a writer at the head and one that mends wait for each other in one order', async () => {
  const { pool } = database
  const mended = row('job_release', 20, jobOf(1))
  await store(pool, row('job_release', 90, jobOf(2)))
  let mending: Promise<PromiseSettledResult<unknown>[]> = Promise.resolve([])
  await inTransaction(pool, async (live) => {
    await store(live, row('job_release', 100, jobOf(1)))
    const found = { settlements: [], payments: [mended], unpaid: [] }
    const piece = { range: { fromBlock: 20, toBlock: 20 }, found }
    mending = Promise.allSettled([mendRange({ pool, chain, scope: 'all' }, piece, { agreed: [20], isWhole: true })])
    await until('the one that mends waits', isWaiting)
    // Comes before a release that is stored, which is written again, with its sums.
    await store(live, row('job_funding', 80, jobOf(2)))
  })
  expect(await mending).toMatchObject([{ status: 'fulfilled' }])
  expect(await payersOf(pool, jobOf(1))).toEqual({ [contract]: 2 })
  await settle([funders], context())
  expect(await payersOf(pool, jobOf(2))).toEqual({ [client]: 1 })
})

const payments = rounds(2_000, 20_000)
/** Rows of which the funding is read, one of each size that the largest has below it, and a few more. */
const mostForEach = 30 + Math.ceil(Math.log2(payments))

/** Follows fundings in a transaction of the caller's. Returns how many keys are left. */
async function followDue(db: pg.PoolClient): Promise<number> {
  const due = await takeDue(db, { kind: 'funders', now: new Date(), limit: 20 })
  const left = await deriveFunders(
    db,
    due.map(({ key }) => key),
    context(),
  )
  await markLater(db, 'funders', left)
  return left.length
}

/** Rows that a transaction has fetched so far, by an index or not. */
async function readIn(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ read: number }>(
    `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 as read from pg_stat_xact_user_tables`,
  )
  return rows[0]?.read ?? 0
}

test('a funding that comes late is followed in slices, and its own statement writes no row again', async () => {
  const { pool } = database
  const subject = jobOf(9)
  const written = async (db: Queryable) => {
    const { rows } = await db.query<{ n: number }>(
      `select (n_tup_ins + n_tup_del)::int as n from pg_stat_xact_user_tables where relname = 'payment'`,
    )
    return rows[0]?.n ?? 0
  }
  await pool.query('delete from due')
  await store(pool, ...Array.from({ length: 1_000 }, (_, at) => row('job_release', 200_000 + at, subject)))
  for (const [move, payer] of [
    [(db: Queryable) => store(db, row('job_funding', 100_000, subject)), client],
    [(db: Queryable) => db.query('delete from payment where block_number = 100000'), contract],
  ] as const) {
    await inTransaction(pool, async (db) => {
      const before = await written(db)
      await move(db)
      expect((await written(db)) - before).toBe(1)
    })
    const slices: number[] = []
    const derive: Derivation['derive'] = async (db, keys, context) => {
      const before = await written(db)
      const left = await deriveFunders(db, keys, context, 300)
      slices.push((await written(db)) - before)
      return left
    }
    await settle([{ ...funders, derive }], context())
    expect(Math.max(...slices)).toBe(600)
    expect(slices.reduce((sum, n) => sum + n)).toBe(2_000)
    expect(await payersOf(pool, subject)).toEqual({ [payer]: 1_000 })
  }
})

test.for([
  ['job', 'job_funding', 'job_release', jobOf(3)],
  ['channel', 'batch_deposit', 'batch_claim', hashOf('channel')],
] as const)(
  'payments of one %s are written with a few rows read for each, whatever of its funding is stored',
  { tags: ['rounds'] },
  ([, funding, paid, subject]) => {
    const from = (kind: Kind, first: number, grossAt: (at: number) => number) =>
      Array.from({ length: payments }, (_, at) => {
        const gross = grossAt(at)
        return row(kind, first + at, subject, { payer: addressOf(`funder ${gross}`), gross: BigInt(gross) })
      })
    const steps: [string, PaymentRow[]][] = [
      ['payments without a funding', from(paid, 200_000, () => 5)],
      ['a funding before them', from(funding, 100_000, () => 7).slice(0, 1)],
      ['smaller fundings behind it', from(funding, 110_000, () => 1)],
      ['larger fundings behind them', from(funding, 500_000, (at) => 10 + at)],
      ['payments between these', from(paid, 300_000, () => 5)],
    ]
    return inTransaction(database.pool, async (db) => {
      await db.query('delete from payment')
      for (const [what, rows] of steps) {
        const before = await readIn(db)
        await store(db, ...rows)
        for (let left = 1; left > 0; ) left = await followDue(db)
        expect(((await readIn(db)) - before) / payments, what).toBeLessThan(mostForEach)
        await db.query('analyze payment')
      }
      expect(await payersOf(db, subject)).toEqual({ [addressOf('funder 7')]: 2 * payments })
    })
  },
)
