import { expect, test } from 'vitest'
import { deriveFiguresOf } from '../../db/queries/rollup/agent-figures.ts'
import { addMovedToRollup, lockRollup } from '../../db/queries/rollup/cursor.ts'
import { derivations } from '../../derive/derivations.ts'
import { settle } from '../../derive/pass.ts'
import { finalize, payers, recipients, rollUp, store, timeOf } from '../enrichment/rollup/world.ts'
import { testDatabase } from '../support/database.ts'
import { rowsRead } from '../support/rows-read.ts'
import { addressOf, insert, seedAgent, seedPayment } from '../support/seed.ts'

// One payer that paid almost everybody, where the planner knows of payers only that each paid one.

const database = testDatabase()
const pairs = 20_000

test('the next payment of who paid almost everybody reads none of its other pairs', async () => {
  const { pool } = database
  const pay = (payer: string) =>
    pool.query(
      `insert into settlement_payer (recipient, payer, chain, overload, first_at, last_at, n, amount)
       select int4send(n), ${payer}, 'base', false, now(), now(), 1, 1 from generate_series(1, ${pairs}) n`,
    )
  await pay('int4send(n)')
  await pool.query('vacuum analyze settlement_payer')
  await pay(`'\\x${payers[0]?.slice(2)}'`)
  await seedAgent(pool, { fid: 1, addresses: [recipients[1] as string] })
  await insert(pool, 'agent_change', { fid: 1, kind: 'upsert', changed_at: new Date() })
  await finalize(database, 'base', 10)
  await rollUp(database, 10)
  const now = timeOf(100)
  await settle(
    derivations.filter(({ kind }) => kind === 'figures'),
    { pool, now: () => now, settlementOverloads: 'spec' },
  )

  let moved: unknown[] = []
  let figures: unknown[] = []
  const read = await rowsRead(
    pool,
    async (db) => {
      await lockRollup(db, 'base')
      const paid = { chain: 'base', block: 1, logIndex: 0, recipient: 1, payer: 0, selector: 0, amount: 5n } as const
      await addMovedToRollup(db, 'base', await store(db, [paid]))
      moved = (await db.query('select fid::int from payer_move')).rows
      await deriveFiguresOf(db, { fids: [1], settlementOverloads: 'spec', now, again: false })
      figures = (await db.query(`select ever, ever_payers from agent_figure where chain = '' and own`)).rows
    },
    ['settlement_payer'],
  )
  expect(moved).toEqual([{ fid: 1 }])
  expect(figures).toEqual([{ ever: 1, ever_payers: 1 }])
  expect(read).toBeLessThan(100)
})

test('who pays somebody again is written into no index', async () => {
  const db = await database.pool.connect()
  try {
    await db.query('begin')
    await lockRollup(db, 'base')
    for (const logIndex of [1, 2]) {
      const paid = { chain: 'base', block: 2, logIndex, recipient: 2, payer: 0, selector: 0, amount: 5n } as const
      await addMovedToRollup(db, 'base', await store(db, [paid]))
    }
    const { rows } = await db.query(
      `select pg_stat_get_xact_tuples_updated(oid)::int as updated, pg_stat_get_xact_tuples_hot_updated(oid)::int as hot
         from pg_class where oid = 'settlement_payer'::regclass`,
    )
    expect(rows).toEqual([{ updated: 1, hot: 1 }])
  } finally {
    await db.query('rollback')
    db.release()
  }
})

test('another payment of who paid almost everybody by other means reads none of its other sums, when it comes and when it goes', async () => {
  const { pool } = database
  const hub = payers[0] as string
  const sums = (payer: string) =>
    pool.query(
      `insert into payment_sum (payee, payer, chain, first_at, last_at, amount)
       select int4send(n), ${payer}, 'base', now(), now(), 1 from generate_series(1, ${pairs}) n`,
    )
  await sums('int4send(n)')
  await pool.query('vacuum analyze payment_sum')
  await sums(`'\\x${hub.slice(2)}'`)
  await insert(pool, 'chain_contract', { chain: 'base', address: addressOf('token'), from_block: 0 })
  const paid = { kind: 'permit2_exact', payee: recipients[1] as string, payer: hub, amount: 5n, at: timeOf(1) } as const
  await seedPayment(pool, { ...paid, block: 2 })
  const again = `insert into payment select 'again', chain, 3, log_index, block_timestamp, kind, token, payer, payee, gross, net,
                        facilitator, tx_hash from payment where payer = $1`
  for (const move of [again, 'delete from payment where payer = $1'])
    expect(await rowsRead(pool, (db) => db.query(move, [bytes(hub)]), ['payment_sum'])).toBeLessThan(100)
  const { rows } = await pool.query('select amount::int from payment_sum where payer = $1 and payee = $2', [
    bytes(hub),
    bytes(recipients[1] as string),
  ])
  expect(rows).toEqual([{ amount: 5 }])
})

const bytes = (address: string) => Buffer.from(address.slice(2), 'hex')
