import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readingLimits } from '../../../config/limits.ts'
import { inTransaction } from '../../../db/pool.ts'
import { agentIncome } from '../../../db/queries/income/agent-income.ts'
import { addToRollup, lockRollup, moveRollup } from '../../../db/queries/rollup/cursor.ts'
import { runIncome } from '../../derive/passes.ts'
import { testDatabase } from '../../support/database.ts'
import { rounds } from '../../support/rounds.ts'
import { insert } from '../../support/seed.ts'
import { bytes, dollar, empty, fids, people, store } from './income-rows.ts'
import { first, paid, passed, person, step } from './income-steps.ts'
import { World } from './income-world.ts'

const database = testDatabase()

const stored = `
select fid || ' ' || to_char(hour at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || ' 0x' || encode(recipient, 'hex') || ' '
       || kind || ' ' || flag || ' ' || x402::text || ' ' || passed_on::text || ': '
       || n || ' ' || amount || ' ' || dust_n || ' ' || dust_amount || ' ' || other_n as line
  from income_hour`
const totals = `
select kind, flag, x402, n::text, amount::text, dust_n::text, dust_amount::text, other_n::text from income_total where n > 0 or amount <> 0 order by 1, 2, 3`
const summed = `
select kind, flag, x402, sum(n)::text as n, sum(amount)::text as amount, sum(dust_n)::text as dust_n,
       sum(dust_amount)::text as dust_amount, sum(other_n)::text as other_n
  from income_hour where not passed_on group by 1, 2, 3 order by 1, 2, 3`

const sumsApart = `
with told as (
  select payee, payer, chain, coalesce(funder, '') as funder, coalesce(min(block_timestamp) filter (where net > 0), 'infinity') as first_at,
         coalesce(max(block_timestamp) filter (where net > 0), '-infinity') as last_at,
         coalesce(sum(net) filter (where net > 0), 0) as amount, coalesce(-sum(net) filter (where net < 0), 0) as refunded,
         coalesce(sum(gross - net) filter (where kind in ('escrow_charge', 'escrow_capture')), 0) as fees
    from payment p
   where p.block_number <= $1 and p.token = $2 and (p.net <> 0 or kind in ('escrow_charge', 'escrow_capture') and gross > 0)
   group by 1, 2, 3, 4
)
select count(*)::int as apart
  from told full join payment_sum s using (payee, payer, chain, funder)
 where (told.first_at, told.last_at, told.amount, told.refunded, told.fees)
       is distinct from (s.first_at, s.last_at, s.amount, s.refunded, s.fees)`

/** Asserts that stored income and the flags readers get are those of the single payments. */
async function expectIncome(world: World): Promise<void> {
  const { rows } = await database.pool.query<{ line: string }>(stored)
  expect(rows.map(({ line }) => line).sort()).toEqual(world.income())
  expect((await database.pool.query(sumsApart, [world.final, bytes(dollar)])).rows).toEqual([{ apart: 0 }])
  for (const fid of fids) {
    const { payers, reciprocal, single_payer } = (await agentIncome(database.pool, fid)).members
    const told = {
      payers: JSON.parse(payers ?? ''),
      reciprocal: JSON.parse(reciprocal ?? ''),
      single_payer: JSON.parse(single_payer ?? ''),
    }
    expect(told).toEqual(world.flags(fid))
  }
}

test('income is what the payments say one by one, whatever moves them, the addresses or the names of senders', {
  tags: ['rounds'],
}, async () => {
  await fc.assert(
    fc.asyncProperty(first, fc.array(step, { minLength: 4, maxLength: 20 }), async (begin, steps) => {
      await empty(database.pool)
      const world = new World(database.pool)
      for (const one of begin) await world.take(one)
      for (const one of steps) await world.take(one)
      await world.take({ kind: 'roll up', blocks: 40 })
      while ((await runIncome({ pool: database.pool, steps: { changes: 2, rings: 1, hours: 3, payments: 5 } })) > 0);
      await expectIncome(world)
      expect((await database.pool.query(totals)).rows).toEqual((await database.pool.query(summed)).rows)
    }),
    { numRuns: rounds(4, 20), endOnFailure: true },
  )
})

/** Way of a payment: a settlement, a Permit2 proxy in dollars or another token, or a settlement that is forwarded. */
const way = fc.constantFrom('settlement', 'settlement', 'permit2_exact', 'other token', 'forwarded')
/** One payment as a step of the world; `through`: who forwards it, if `how` is `forwarded`. */
function pay(how: string, row: { block: number; payer: number; recipient: number; amount: number }, through: number) {
  const { block, payer, recipient, amount } = row
  if (how === 'settlement') {
    return { kind: 'pay' as const, rows: [{ ...row, logIndex: 0, sender: 0, selector: 0 }] }
  }
  const isForwarded = how === 'forwarded'
  const passedOn = {
    block,
    payer,
    amount,
    sender: 0,
    isDollar: how !== 'other token',
    origin: isForwarded ? ('settlement' as const) : ('permit2_exact' as const),
    hands: isForwarded && through !== recipient ? [through, recipient] : [recipient],
  }
  return { kind: 'pass on' as const, rows: [passedOn] }
}

/** A ring of payments of one amount, each made in its own way, and a customer outside who pays one of its members. */
const round = fc
  .record({
    order: fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 6 }),
    length: fc.integer({ min: 3, max: 5 }),
    ways: fc.array(way, { minLength: 5, maxLength: 5 }),
    amount: fc.constantFrom(4_000, 5_000),
    block: fc.nat({ max: 29 }),
    customer: person,
  })
  .map(({ order, length, ways, amount, block, customer }) => {
    const through = order[5] as number
    const inRound = order.slice(0, length)
    const rows = inRound.map((payer, at) =>
      pay(
        ways[at] as string,
        { block: block + at, payer, recipient: inRound[(at + 1) % length] as number, amount },
        through,
      ),
    )
    const another = { block: block + length, payer: customer, recipient: order[0] as number, amount }
    return [...rows, pay('settlement', another, through)]
  })
const agents = fc.tuple(person, person).map(([one, other]) => [
  { kind: 'verify' as const, fid: 1, now: [one] },
  { kind: 'verify' as const, fid: 2, now: [other] },
])
const anything = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('pay' as const), rows: fc.array(paid, { minLength: 1, maxLength: 2 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const), which: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('find' as const),
      rows: fc.array(passed, { minLength: 1, maxLength: 2 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('roll up' as const), blocks: fc.integer({ min: 20, max: 50 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('sum' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('take back' as const), blocks: fc.integer({ min: 0, max: 60 }) }),
  },
)
const later = fc.oneof({ weight: 1, arbitrary: round }, { weight: 2, arbitrary: anything.map((one) => [one]) })

test('rings are those of the payments that stand, whatever closes or opens one later', async () => {
  await fc.assert(
    fc.asyncProperty(agents, fc.array(later, { minLength: 6, maxLength: 14 }), async (begin, steps) => {
      await empty(database.pool)
      const world = new World(database.pool)
      for (const one of begin) await world.take(one)
      for (const one of steps.flat()) {
        await world.take(one)
        if (one.kind === 'sum') while ((await runIncome({ pool: database.pool })) > 0);
      }
      await world.take({ kind: 'roll up', blocks: 20 })
      while ((await runIncome({ pool: database.pool })) > 0);
      await expectIncome(world)
    }),
    { numRuns: 4, endOnFailure: true },
  )
})

/** A customer who pays an agent about twenty times, another payer who pays once, and a refund to the customer. */
const custom = fc
  .record({
    agent: fc.constantFrom(0, 1),
    customer: fc.integer({ min: 1, max: 3 }),
    other: person,
    times: fc.constantFrom(18, 19, 19, 20),
    another: fc.constantFrom(900, 1_000, 1_100),
    back: fc.constantFrom(9_000, 9_500, 10_000, 20_000),
    how: way,
    block: fc.integer({ min: 0, max: 15 }),
  })
  .map(({ agent, customer, other, times, another, back, how, block }) => {
    const row = { logIndex: 0, sender: 0, selector: 0, payer: customer, recipient: agent, amount: 1_000 }
    const often = Array.from({ length: times }, (_, at) => ({ ...row, block: block + at }))
    const once = { ...row, block: block + times, payer: other, amount: another }
    return {
      sale: { kind: 'pay' as const, rows: [...often, once] },
      refund: pay(how, { block: block + 25, payer: agent, recipient: customer, amount: back }, 5),
    }
  })
const passing = fc.record({ kind: fc.constant('roll up' as const), blocks: fc.integer({ min: 20, max: 60 }) })
/** Sales to a customer, and a refund before or after them, at once or later. */
const trade = fc
  .tuple(custom, fc.array(passing, { maxLength: 2 }), fc.boolean())
  .map(([{ sale, refund }, between, isAfter]) => (isAfter ? [sale, ...between, refund] : [refund, ...between, sale]))
const amid = fc.oneof(
  passing,
  fc.record({ kind: fc.constant('pass on' as const), rows: fc.array(passed, { minLength: 1, maxLength: 2 }) }),
  fc.record({ kind: fc.constant('take back' as const), blocks: fc.integer({ min: 0, max: 30 }) }),
)

test('who is paid back, and who pays alone, is what the payments say one by one', async () => {
  await fc.assert(
    fc.asyncProperty(
      trade,
      fc.array(amid, { maxLength: 2 }),
      fc.array(trade, { maxLength: 1 }),
      async (one, two, three) => {
        await empty(database.pool)
        const world = new World(database.pool)
        for (const fid of fids) await world.take({ kind: 'verify', fid, now: [fid - 1] })
        for (const step of [...one, ...two, ...three.flat()]) await world.take(step)
        await world.take({ kind: 'roll up', blocks: 40 })
        while ((await runIncome({ pool: database.pool })) > 0);
        await expectIncome(world)
      },
    ),
    { numRuns: 12, endOnFailure: true },
  )
})

test('a ring is left out of what is filtered until it opens again', async () => {
  await empty(database.pool)
  const world = new World(database.pool)
  const all = { logIndex: 0, sender: 0, selector: 0, amount: 5_000 }
  const told = async () => {
    await world.take({ kind: 'roll up', blocks: 10 })
    while ((await runIncome({ pool: database.pool })) > 0);
    const { members } = await agentIncome(database.pool, 1)
    const { raw, filtered, ring, payers } = members
    return [raw, filtered, ring, payers].map((text) => JSON.parse(text ?? ''))
  }
  await world.take({ kind: 'verify', fid: 1, now: [0] })
  const round = [0, 1, 2].map((payer) => ({ ...all, block: payer, payer, recipient: (payer + 1) % 3 }))
  await world.take({ kind: 'pay', rows: [...round, { ...all, block: 3, payer: 4, recipient: 0, amount: 2_000 }] })
  expect(await told()).toEqual([
    { payments: 2, amount_usdc: 0.007 },
    { payments: 1, amount_usdc: 0.002 },
    { payments: 1, amount_usdc: 0.005 },
    { raw: 2, filtered: 1 },
  ])
  // Address 2 now keeps too much for a balanced ring, though this payment is neither from nor to the agent.
  await world.take({ kind: 'pay', rows: [{ ...all, block: 3, payer: 1, recipient: 2, amount: 2_000 }] })
  expect(await told()).toEqual([
    { payments: 2, amount_usdc: 0.007 },
    { payments: 2, amount_usdc: 0.007 },
    { payments: 0, amount_usdc: 0 },
    { raw: 2, filtered: 2 },
  ])
})

test.each([
  ['permit2_exact', 1],
  ['forwarded', 1],
  ['other token', 0],
])('a round that one pays by %s is a ring to %i of two payers, and so is what is paid back', async (how, found) => {
  await empty(database.pool)
  const world = new World(database.pool)
  const told = async () => {
    await world.take({ kind: 'roll up', blocks: 10 })
    while ((await runIncome({ pool: database.pool })) > 0);
    const { ring, reciprocal } = (await agentIncome(database.pool, 1)).members
    return [JSON.parse(ring ?? '').payments, JSON.parse(reciprocal ?? '').payers]
  }
  const amount = 5_000
  await world.take({ kind: 'verify', fid: 1, now: [0] })
  await world.take(pay('settlement', { block: 0, payer: 2, recipient: 0, amount }, 5))
  await world.take(pay('settlement', { block: 1, payer: 3, recipient: 0, amount }, 5))
  await world.take(pay(how, { block: 2, payer: 0, recipient: 1, amount }, 5))
  await world.take(pay('settlement', { block: 3, payer: 1, recipient: 2, amount }, 5))
  expect(await told()).toEqual([found, 0])
  await world.take(pay(how, { block: 0, payer: 0, recipient: 3, amount }, 5))
  expect((await told())[1]).toBe(found)
  await expectIncome(world)
})

test('who was paid back is also told of an agent that pays more accounts than can be read', async () => {
  await empty(database.pool)
  const { pool } = database
  const world = new World(pool)
  await world.take({ kind: 'verify', fid: 1, now: [0] })
  for (const payer of [2, 3]) {
    await world.take(pay('settlement', { block: payer, payer, recipient: 0, amount: 5_000 }, 5))
  }
  await world.take(pay('settlement', { block: 4, payer: 0, recipient: 2, amount: 5_000 }, 5))
  await world.take({ kind: 'roll up', blocks: 10 })
  while ((await runIncome({ pool })) > 0);
  const reciprocal = async () => JSON.parse((await agentIncome(pool, 1)).members.reciprocal ?? '')
  const expected = { payers: 1, payments: 1, amount_usdc: 0.005 }
  expect(await reciprocal()).toEqual(expected)
  await pool.query(
    `insert into settlement_payer (recipient, payer, chain, overload, first_at, last_at, n, amount)
     select int4send(n), $1, 'base', false, '2026-01-01', '2026-01-01', 1, 1 from generate_series(1, $2::int) n`,
    [bytes(people[0] as string), readingLimits.payerSettlements],
  )
  expect(await reciprocal()).toEqual(expected)
})

test('payments of nothing are neither by a single payer nor paid back', async () => {
  await empty(database.pool)
  const world = new World(database.pool)
  await world.take({ kind: 'verify', fid: 1, now: [0] })
  const row = { logIndex: 0, sender: 0, selector: 0 }
  const free = Array.from({ length: 20 }, (_, block) => ({ ...row, block, payer: 2, recipient: 0, amount: 0 }))
  await world.take({ kind: 'pay', rows: [...free, { ...row, block: 20, payer: 0, recipient: 2, amount: 5_000 }] })
  await world.take({ kind: 'roll up', blocks: 30 })
  while ((await runIncome({ pool: database.pool })) > 0);
  const { raw, reciprocal, single_payer } = (await agentIncome(database.pool, 1)).members
  expect([raw, reciprocal, single_payer].map((text) => JSON.parse(text ?? ''))).toEqual([
    { payments: 20, amount_usdc: 0 },
    { payers: 0, payments: 0, amount_usdc: 0 },
    false,
  ])
  await expectIncome(world)
})

test('a pass reads the settlements of the hours that are due, and no others', async () => {
  await empty(database.pool)
  const { pool } = database
  await pool.query('update agent set verified_addresses = $1 where fid = 1', [[bytes(people[0] as string)]])
  await insert(pool, 'agent_change', { fid: 1, kind: 'upsert', changed_at: new Date() })
  const old = Array.from({ length: 500 }, (_, block) => ({
    block,
    logIndex: 0,
    payer: 1,
    recipient: block % 2 === 0 ? 0 : 2,
    sender: 0,
    selector: 0,
    amount: 5_000,
  }))
  await store(database.pool, old)
  const world = new World(database.pool)
  await world.take({ kind: 'roll up', blocks: 500 })
  while ((await runIncome({ pool })) > 0);
  await store(database.pool, [
    { block: 550, logIndex: 0, payer: 1, recipient: 0, sender: 0, selector: 0, amount: 5_000 },
  ])
  await world.take({ kind: 'roll up', blocks: 51 })
  const { rows: due } = await pool.query(`select key from due where kind = 'income hours'`)
  expect(due).toHaveLength(1)
  expect(await runIncome({ pool })).toBe(1)
  expect(await runIncome({ pool })).toBe(0)
  const { rows } = await pool.query('select sum(n)::int as n from income_hour')
  expect(rows).toEqual([{ n: 251 }])
})

test('an hour that is noted again while it is summed up is summed up again', async () => {
  await empty(database.pool)
  const { pool } = database
  const world = new World(database.pool)
  await world.take({ kind: 'verify', fid: 1, now: [0] })
  const row = { payer: 1, recipient: 0, sender: 0, selector: 0, amount: 5_000 }
  await store(database.pool, [{ ...row, block: 0, logIndex: 0 }])
  await world.take({ kind: 'roll up', blocks: 1 })
  while ((await runIncome({ pool })) > 0);
  await store(database.pool, [{ ...row, block: 1, logIndex: 0 }])
  await world.take({ kind: 'roll up', blocks: 1 })
  await store(database.pool, [{ ...row, block: 2, logIndex: 0 }])
  await pool.query('update chain_state set finalized_block = 2')
  await inTransaction(pool, async (db) => {
    // A step of the roll-up on an hour that is already due; another session sums the hour up before this commits.
    await lockRollup(db, 'base')
    await addToRollup(db, 'base', { fromBlock: 2, toBlock: 2 })
    await moveRollup(db, 'base', 3)
    await runIncome({ pool })
  })
  while ((await runIncome({ pool })) > 0);
  const { rows } = await pool.query('select sum(n)::int as n from income_hour')
  expect(rows).toEqual([{ n: 3 }])
})
