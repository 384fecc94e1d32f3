import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { inTransaction, type Queryable } from '../../db/pool.ts'
import { agentIncome } from '../../db/queries/income/agent-income.ts'
import { incomePayments } from '../../db/queries/income/payments.ts'
import { derivations } from '../../derive/derivations.ts'
import { settle } from '../../derive/pass.ts'
import { rollUpSettlements } from '../../enrichment/periodic/rollup.ts'
import { testDatabase } from '../support/database.ts'
import { rounds } from '../support/rounds.ts'
import { rowsRead } from '../support/rows-read.ts'
import { addressOf, birth, hashOf, insert, seedAgent, seedChainState, seedPayment } from '../support/seed.ts'
import { runIncome } from './passes.ts'

// A payer that becomes the agent's own between what an escrow does of its payment: all is told by the first charge or capture.

const database = testDatabase()
const fid = 1
const seller = addressOf('seller')
const buyer = addressOf('buyer')
// Of an operator that pays itself, so that the payer is known whatever is loaded first.
const subject = `${buyer}${hashOf('terms').slice(2)}`
const timeOf = (block: number) => new Date(+birth + block * 3_600_000)
const now = timeOf(1_000)

interface Row {
  readonly kind: 'escrow_authorization' | 'escrow_capture' | 'escrow_refund'
  readonly block: number
  readonly amount: number
}
const rows: readonly Row[] = [
  { kind: 'escrow_authorization', block: 10, amount: 0 },
  { kind: 'escrow_capture', block: 20, amount: 1_000 },
  { kind: 'escrow_capture', block: 30, amount: 500 },
  { kind: 'escrow_refund', block: 40, amount: -300 },
]

beforeAll(async () => {
  const { pool } = database
  await seedAgent(pool, { fid, addresses: [seller] })
  await insert(pool, 'agent_change', { fid, kind: 'upsert', changed_at: birth })
  await insert(pool, 'chain_contract', { chain: 'base', address: addressOf('token'), from_block: 0 })
  await seedChainState(pool, { chain: 'base', indexed: 900, finalized: 900 })
  await derive()
})

async function derive() {
  const { pool } = database
  while ((await rollUpSettlements({ pool })) + (await runIncome({ pool })) > 0);
  const kinds = derivations.filter(({ kind }) => kind === 'demand')
  await settle(kinds, { pool, now: () => now, settlementOverloads: 'spec' })
}

const store = ({ kind, block, amount }: Row) =>
  seedPayment(database.pool, {
    chain: 'base',
    kind,
    payer: buyer,
    payee: seller,
    token: addressOf('token'),
    subject,
    block,
    amount: BigInt(amount === 0 ? 2_000 : amount),
    net: BigInt(amount),
    at: timeOf(block),
  })

/** What everything says of the payments that are stored. */
async function told() {
  const { pool } = database
  await derive()
  const hours = await pool.query(
    'select flag, sum(amount)::int as amount from income_hour where amount <> 0 group by 1',
  )
  const filter = { chain: null, since: null, until: null }
  const page = await incomePayments(pool, { fid, limit: 20, order: 'asc', filter, columns: ['flag'] })
  const demand = await pool.query(`select payers::int, amount::int from agent_demand where fid = $1 and chain = ''`, [
    fid,
  ])
  const flagged = await inTransaction(pool, async (db) => {
    await db.query('set local role directory_reader')
    return db.query('select flag from directory.flagged_addresses')
  })
  const { payers } = (await agentIncome(pool, fid)).members
  return {
    hours: hours.rows,
    page: [...new Set(JSON.parse(page.rows).flat())],
    demand: demand.rows,
    filtered: JSON.parse(payers ?? '').filtered,
    flagged: flagged.rows.map(({ flag }) => flag),
  }
}

/** The same, by the rule. */
function expected(stored: readonly Row[], ownFrom: number, ownTo: number) {
  const captured = stored.filter(({ kind }) => kind === 'escrow_capture')
  if (captured.length === 0) return { hours: [], page: [], demand: [], filtered: 0, flagged: [] }
  const first = Math.min(...captured.map(({ block }) => block))
  const isOwn = first >= ownFrom && first < ownTo
  const amount = stored.reduce((sum, one) => sum + one.amount, 0)
  const flag = isOwn ? 'same_owner' : 'none'
  return {
    hours: [{ flag, amount }],
    page: [flag],
    demand: isOwn ? [] : [{ payers: 1, amount }],
    filtered: isOwn ? 0 : 1,
    // Who was named an operator was not asked, and is not listed.
    flagged: isOwn && ownTo === Number.POSITIVE_INFINITY ? ['same_owner'] : [],
  }
}

const step = fc.oneof(
  fc.record({ kind: fc.constant('store' as const), row: fc.constantFrom(...rows) }),
  fc.record({ kind: fc.constant('undo' as const), from: fc.constantFrom(10, 20, 30, 40) }),
  fc.record({ kind: fc.constant('drop' as const), row: fc.constantFrom(...rows) }),
)
const own = fc.record({ from: fc.constantFrom(5, 15, 25, 35), to: fc.constantFrom(Number.POSITIVE_INFINITY, 22, 36) })

test('income, demand and flagged addresses tell all of an escrow by its first capture, in whatever order rows come and go', {
  tags: ['rounds'],
}, async () => {
  const { pool } = database
  await fc.assert(
    fc.asyncProperty(
      own,
      fc.shuffledSubarray([...rows], { minLength: 3 }),
      fc.array(step, { maxLength: 4 }),
      async (time, first, steps) => {
        await pool.query('delete from payment')
        await pool.query('delete from income_owner where address = $1', [Buffer.from(buyer.slice(2), 'hex')])
        const isOperator = time.to < Number.POSITIVE_INFINITY
        const { from, to } = isOperator && time.to <= time.from ? { ...time, to: 50 } : time
        await insert(pool, 'income_owner', {
          fid,
          address: Buffer.from(buyer.slice(2), 'hex'),
          because: isOperator ? 'operator' : 'wallet',
          from_at: timeOf(from),
          to_at: isOperator ? timeOf(to) : 'infinity',
        })
        let stored: Row[] = []
        for (const row of first) {
          await store(row)
          stored.push(row)
          expect(await told()).toEqual(expected(stored, from, to))
        }
        expect(stored).not.toEqual([])
        for (const one of steps) {
          if (one.kind === 'store') {
            if (stored.includes(one.row)) continue
            await store(one.row)
            stored.push(one.row)
          } else {
            const isGone = ({ block }: Row) => (one.kind === 'undo' ? block >= one.from : block === one.row.block)
            const blocks = stored.filter(isGone).map(({ block }) => block)
            await pool.query('delete from payment where block_number = any ($1)', [blocks])
            stored = stored.filter((row) => !isGone(row))
          }
          expect(await told()).toEqual(expected(stored, from, to))
        }
      },
    ),
    { numRuns: rounds(6, 40), endOnFailure: true },
  )
})

test('the first capture of a payment is found without the rows that bring nothing before it', async () => {
  const { pool } = database
  await pool.query('delete from payment')
  await pool.query(
    `insert into payment (id, chain, block_number, log_index, block_timestamp, kind, token, payer, payee, gross, net, facilitator,
                          tx_hash, subject)
     select 'crowd-' || n, 'base', 15, n, $1, 'escrow_return', '\\x01', '\\x02', '\\x03', 1, 0, '\\x02', '\\x04', $2
       from generate_series(1, 2000) n`,
    [timeOf(15), Buffer.from(subject.slice(2), 'hex')],
  )
  await pool.query('analyze payment')
  for (const row of rows) await store(row)
  const find = async (db: Queryable) => {
    const { rows } = await db.query(`select at from first_charge($1, 'base')`, [Buffer.from(subject.slice(2), 'hex')])
    expect(rows).toEqual([{ at: timeOf(20) }])
  }
  expect(await rowsRead(pool, find, ['payment'])).toBeLessThanOrEqual(3)
})
