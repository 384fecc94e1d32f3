import fc from 'fast-check'
import { expect, test } from 'vitest'
import { answered } from '../../../db/queries/sql/feedback.ts'
import { deriveAll } from '../../derive/again.ts'
import { testDatabase } from '../../support/database.ts'
import { rounds } from '../../support/rounds.ts'
import { addressOf, birth, insert } from '../../support/seed.ts'
import { bytes } from '../rollup/income-rows.ts'
import { expected, goingRound, history, store } from './history.ts'

const database = testDatabase()
const now = () => new Date(birth.getTime() + 86_400_000)

async function judged(): Promise<string[]> {
  const { rows } = await database.pool.query<{ said: string }>(
    `select concat_ws(' ', fid, id, kind, coalesce(client_fid::text, ''), paid, before_holder) as said from judged_feedback`,
  )
  return rows.map((row) => row.said.replace(/\bt\b/g, 'true').replace(/\bf\b/g, 'false')).sort()
}

test('whose the client of a feedback was, and whether it had paid, is what a count over the facts says', async () => {
  const { pool } = database
  const context = { pool, now, settlementOverloads: 'spec' } as const
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(history, async (events) => {
      await store(pool, events)
      await deriveAll(context)
      const said = await judged()
      for (const one of said) seen.add(one.split(' ').slice(2).join(' ').replace(/\d+/, 'n'))
      expect(said).toEqual(expected(events, await goingRound(pool)))
    }),
    { numRuns: rounds(10, 60), endOnFailure: true },
  )
  for (const kind of ['self', 'agent', 'stranger'])
    expect(
      [...seen].some((one) => one.startsWith(kind)),
      kind,
    ).toBe(true)
  expect(
    [...seen].some((one) => one.endsWith('true false')),
    'paid',
  ).toBe(true)
  expect(
    [...seen].some((one) => one.endsWith('true')),
    'before the holder',
  ).toBe(true)
})

test('a paying customer stays a stranger whom the agent names its operator, or approves for its registration, unasked', async () => {
  const { pool } = database
  const paidAndRated = (who: number) => [
    { kind: 'pay' as const, who, to: 0, how: 'bytes' },
    { kind: 'operator' as const, owner: 0, who, approved: true },
    { kind: 'approve' as const, token: 1, who },
    { kind: 'rate' as const, token: 1, who },
  ]
  await store(pool, [
    { kind: 'verify', fid: 1, who: 0 },
    { kind: 'transfer', token: 1, who: 0 },
    ...paidAndRated(3),
    ...paidAndRated(4),
  ])
  await deriveAll({ pool, now, settlementOverloads: 'spec' })
  expect(await judged()).toEqual(['1 5 stranger  true false', '1 9 stranger  true false'])
})

test('what an operator paid grounds no feedback, not even once it has resigned; what it paid before and behind does', async () => {
  const { pool } = database
  const isOperator = (who: number, approved: boolean) => ({ kind: 'operator' as const, owner: 0, who, approved })
  const pays = (who: number) => ({ kind: 'pay' as const, who, to: 0, how: who === 3 ? 'permit2' : 'bytes' })
  const rates = (who: number) => ({ kind: 'rate' as const, token: 1, who })
  const customers = [3, 4].flatMap((who) => [
    isOperator(who, true),
    pays(who),
    rates(who),
    isOperator(who, false),
    rates(who),
    isOperator(who, true),
    isOperator(who, false),
    pays(who),
    rates(who),
  ])
  await store(pool, [
    { kind: 'verify', fid: 1, who: 0 },
    { kind: 'transfer', token: 1, who: 0 },
    ...customers,
    pays(5),
    isOperator(5, true),
    pays(5),
    rates(5),
  ])
  await deriveAll({ pool, now, settlementOverloads: 'spec' })
  const { rows } = await pool.query(
    `select f.id, f.paid, f.grounds, (payment_behind(f.fid, f.client, f.paid_at) ->> 'block_number')::int as by
       from judged_feedback f order by f.id::int`,
  )
  expect(rows.map(({ id, paid, grounds, by }) => [Number(id), paid, grounds, paid ? by : null])).toEqual([
    [4, false, 'none', null],
    [6, false, 'none', null],
    [10, true, 'payment', 9],
    [13, false, 'none', null],
    [15, false, 'none', null],
    [19, true, 'payment', 18],
    [23, true, 'payment', 20],
  ])
})

test('an address that the agent has given up, or its registration names no more, does not answer for it', async () => {
  const { pool } = database
  await store(pool, [
    { kind: 'verify', fid: 1, who: 0 },
    { kind: 'transfer', token: 1, who: 0 },
    { kind: 'verify', fid: 1, who: 1 },
    { kind: 'wallet', token: 1, who: 2 },
    ...[4, 5, 6, 7].map(() => ({ kind: 'rate' as const, token: 1, who: 5 })),
    { kind: 'unverify', fid: 1, who: 1 },
    { kind: 'wallet', token: 1, who: 3 },
  ])
  await deriveAll({ pool, now, settlementOverloads: 'spec' })
  const answers = [
    { by: 'p1', to: 4, block: 7 },
    { by: 'p1', to: 5, block: 20 },
    { by: 'p2', to: 6, block: 20 },
    { by: 'p3', to: 7, block: 20 },
  ]
  for (const { by, to, block } of answers)
    await insert(pool, 'feedback_response', {
      id: `base-${by}-${to}`,
      chain: 'base',
      agent_id: 1,
      client: bytes(addressOf('p5')),
      feedback_index: to,
      responder: bytes(addressOf(by)),
      response_uri: '',
      response_hash: Buffer.alloc(32),
      block_number: block,
      log_index: to,
      block_timestamp: new Date(birth.getTime() + block * 60_000),
      tx_hash: Buffer.alloc(32),
    })
  const { rows } = await pool.query(
    `select f.id, ${answered('f.fid')} as answered from judged_feedback f where f.fid = 1 order by f.id`,
  )
  expect(rows.map(({ id, answered }) => [id, answered])).toEqual([
    ['4', true],
    ['5', false],
    ['6', false],
    ['7', true],
  ])
})
