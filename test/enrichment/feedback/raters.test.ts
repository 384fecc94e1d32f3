import fc from 'fast-check'
import { expect, test } from 'vitest'
import { maxBlock } from '../../../db/block-range.ts'
import { deleteWithin } from '../../../db/queries/chain/block-rows.ts'
import { flagRules } from '../../../db/queries/sql/feedback.ts'
import { deriveAgain } from '../../../derive/again.ts'
import { settle } from '../../../derive/pass.ts'
import { testDatabase } from '../../support/database.ts'
import { rounds } from '../../support/rounds.ts'
import { addressOf, insert, seedWallet } from '../../support/seed.ts'
import { bytes, kinds, names, ratings, time } from './ratings.ts'

const database = testDatabase()
const { context, derive, mint, rate, pay, flags } = ratings(database)
const feedbackTables = ['feedback', 'feedback_response'] as const

test('twenty clients of one funder are flagged, with nineteen, or where it pays others mostly, they are not', async () => {
  await mint(1, 'seller')
  for (const [n, client] of names('puppet', 20).entries()) {
    await pay('master', client, 2_000 * n)
    await rate(client, 1, 2_000 * n + 1)
  }
  await derive()
  expect(await flags('puppet 0')).toEqual(['shared_funder'])
  // Others that it pays leave the share at four fifths with five, and below it with six.
  for (const other of names('other', 5)) await pay('master', other, 3)
  await derive()
  expect(await flags('puppet 19')).toEqual(['shared_funder'])
  await pay('master', 'other 5', 3)
  await derive()
  expect(await flags('puppet 0')).toEqual([])
  await database.pool.query('delete from settlement_payer where recipient = $1', [bytes(addressOf('other 5'))])
  await derive()
  expect(await flags('puppet 0')).toEqual(['shared_funder'])
  // A reorg takes the feedback of the last one.
  await deleteWithin(database.pool, 'base', { fromBlock: 2_000 * 19 + 1, toBlock: maxBlock }, feedbackTables)
  await derive()
  expect(await flags('puppet 0')).toEqual([])
})

/** A sum of what one address signed for of the money that another one put into a channel. */
const payFrom = (funder: string, signer: string, payee: string, block: number) =>
  insert(database.pool, 'payment_sum', {
    payee: bytes(addressOf(payee)),
    payer: bytes(addressOf(signer)),
    chain: 'base',
    first_at: time(block),
    last_at: time(block),
    amount: 1_000,
    funder: bytes(addressOf(funder)),
  })

test('clients share the funder whose money it was, whoever signed: not who signs for many', async () => {
  await mint(1, 'seller')
  for (const [n, client] of names('puppet', 20).entries()) {
    await payFrom('master', `key ${n}`, client, 1)
    await rate(client, 1, 2)
  }
  for (const [n, client] of names('guest', 20).entries()) {
    await payFrom(`host ${n}`, 'service', client, 1)
    await rate(client, 1, 2)
  }
  await derive()
  expect(await flags('puppet 0')).toEqual(['shared_funder'])
  expect(await flags('guest 0')).toEqual([])
  // What it signs for of others' money is not what it pays; what others sign for of its own is.
  for (const other of names('other', 6)) await payFrom('host 0', 'master', other, 3)
  await derive()
  expect(await flags('puppet 0')).toEqual(['shared_funder'])
  for (const other of names('other', 6)) await payFrom('master', 'service', other, 3)
  await derive()
  expect(await flags('puppet 0')).toEqual([])
})

test('dust tells nothing of a client: neither who sent it, nor that it paid', async () => {
  await mint(1, 'seller')
  for (const [n, client] of names('customer', 20).entries()) {
    await pay(n < 12 ? 'sender' : `customer ${n - 1}`, client, 2_000 * n, 999)
    await rate(client, 1, 2_000 * n + 100 - n)
  }
  for (const client of names('dusted', 20)) {
    await pay('sender', client, 4, 999)
    await pay('own funds', client, 5)
    await rate(client, 1, 60_000)
  }
  // What a funder pays others of it makes it no exchange.
  for (const other of names('other', 9)) await pay('own funds', other, 6, 999)
  await derive()
  expect(await Promise.all(['customer 0', 'customer 19', 'dusted 0'].map(flags))).toEqual([[], [], ['shared_funder']])
  await mint(2, 'seller')
  for (const client of names('new', 50)) await rate(client, 2, 65)
  await pay('new 7', 'somebody', 70, 999)
  await derive()
  expect(await flags('new 0')).toEqual(['made_together'])
  await pay('new 7', 'somebody', 71, 1)
  await derive()
  expect(await flags('new 0')).toEqual([])
})

test('a funder is who paid first, before the first feedback; who rates many different registrations is no farm', async () => {
  for (let id = 1; id <= 20; id++) await mint(id, `seller ${id}`)
  for (const [n, client] of names('customer', 20).entries()) {
    await pay('first', client, 5)
    await pay('second', client, 6)
    await rate(client, 1 + (n % 20), 10)
  }
  await derive()
  const { rows } = await database.pool.query('select distinct funder from feedback_client')
  expect(rows).toEqual([{ funder: bytes(addressOf('first')) }])
  expect(await flags('customer 3')).toEqual([])
  await rate('late', 1, 4)
  await pay('first', 'late', 5)
  await derive()
  const late = await database.pool.query('select funder from feedback_client where client = $1', [
    bytes(addressOf('late')),
  ])
  expect(late.rows).toEqual([{ funder: null }])
})

test('from the fifth client on, a chain of first payers who rate the same is flagged', async () => {
  await mint(1, 'seller')
  await mint(2, 'seller')
  const chain = names('link', 7)
  for (const [n, client] of chain.entries()) {
    await rate(client, 1, 100 + n)
    if (n > 0) await pay(chain[n - 1]!, client, n)
  }
  await derive()
  expect(await Promise.all(chain.map(flags))).toEqual([[], [], [], [], ...Array(3).fill(['funding_chain'])])
  // One that rated something else is the first of another chain.
  await database.pool.query('delete from feedback where client = $1', [bytes(addressOf('link 3'))])
  await rate('link 3', 2, 200)
  await derive()
  expect((await Promise.all(chain.map(flags))).flat()).toEqual([])
})

test('fifty of the same hour are flagged, not where some were there before, or paid somebody', async () => {
  await mint(1, 'seller')
  for (const [n, client] of names('new', 50).entries()) await rate(client, 1, 60 + n)
  await derive()
  expect(await flags('new 0')).toEqual(['made_together'])
  await pay('new 7', 'somebody', 500)
  await derive()
  expect(await flags('new 0')).toEqual([])
  for (const client of names('more', 19)) await rate(client, 1, 119)
  await derive()
  expect([await flags('new 0'), await flags('new 7')]).toEqual([['made_together'], []])
  for (const client of names('known', 4)) {
    await rate(client, 2, 10)
    await rate(client, 1, 61)
  }
  await derive()
  expect(await flags('new 0')).toEqual([])
})

test('two hundred that do nothing but rate are flagged, and none of them that rated something else too', async () => {
  await mint(1, 'seller')
  for (const [n, client] of names('idle', 200).entries()) await rate(client, 1, 100 * n)
  await rate('idle 9', 2, 30_000)
  await derive()
  expect([await flags('idle 0'), await flags('idle 9')]).toEqual([['only_rates'], []])
  for (const client of names('busy', 5)) {
    await rate(client, 1, 30_000)
    await pay(client, 'somebody', 30_000)
  }
  await derive()
  expect(await flags('idle 0')).toEqual([])
})

test('a flood flags none of those who had rated a registration before it', async () => {
  await mint(1, 'seller')
  for (const [n, client] of names('honest', 30).entries()) await rate(client, 1, 1_000 * n)
  for (const [n, client] of names('flood', 200).entries()) await rate(client, 1, 40_000 + 10 * n)
  await rate('flood 7', 1, 90_000)
  await derive()
  expect([await flags('honest 0'), await flags('honest 29')]).toEqual([[], []])
  expect([await flags('flood 0'), await flags('flood 199')]).toEqual([['only_rates'], ['only_rates']])
  const { rowCount } = await database.pool.query(`select from feedback_flag where client = $1`, [
    bytes(addressOf('flood 7')),
  ])
  expect(rowCount).toBe(2)
})

test('a client whose twenty-first registration makes it known as busy is counted so there too', async () => {
  for (let id = 1; id <= 21; id++) await mint(id, `seller ${id}`)
  for (const [n, client] of names('idle', 199).entries()) await rate(client, 21, 100 * n)
  for (let id = 1; id <= 20; id++) await rate('wide', id, id)
  await derive()
  await rate('wide', 21, 30_000)
  // Groups are counted before what is known of the client.
  await settle(
    kinds.filter(({ kind }) => kind === 'rater groups'),
    context(),
  )
  await derive()
  expect(await flags('idle 0')).toEqual([])
})

test('what rests on payments is not told where settlements of known recipients alone are kept', async () => {
  await mint(1, 'seller')
  for (const [n, client] of names('new', 50).entries()) await rate(client, 1, 60 + n)
  await mint(2, 'x')
  await mint(3, 'y')
  await rate('x', 3, 10)
  await rate('y', 2, 10)
  await derive()
  expect([await flags('new 0'), await flags('x')]).toEqual([['made_together'], ['circle']])
  await database.pool.query(`insert into settlement_scope (chain, complete_to, own_from) values ('base', -1, 0)`)
  expect([await flags('new 0'), await flags('x')]).toEqual([[], ['circle']])
})

const who = fc.integer({ min: 0, max: 7 }).map((n) => `someone ${n}`)
const id = fc.oneof({ weight: 2, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 5 }))
const payer = fc.oneof({ weight: 2, arbitrary: fc.constant('someone 0') }, who)
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('rate' as const), who, id }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('pay' as const),
      who: payer,
      to: who,
      amount: fc.constantFrom<number[]>(0, 1, 999, 1_000),
    }),
  },
  fc.record({ kind: fc.constant('unpay' as const), who }),
  fc.record({ kind: fc.constant('mint' as const), id, who }),
  fc.record({ kind: fc.constant('wallet' as const), id, who }),
  fc.record({ kind: fc.constant('back' as const), blocks: fc.integer({ min: 1, max: 10 }) }),
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('verify' as const), fid: fc.integer({ min: 1, max: 3 }), who }),
  },
  fc.record({ kind: fc.constant('unverify' as const), who }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('derive' as const) }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Something for each rule. */
const beginning: readonly Step[] = [
  ...['someone 6', 'someone 7'].map((holder, n) => ({ kind: 'mint' as const, id: 4 + n, who: holder })),
  { kind: 'rate', who: 'someone 6', id: 5 },
  { kind: 'rate', who: 'someone 7', id: 4 },
  ...[1, 2, 3, 4].map((n) => ({ kind: 'pay' as const, who: 'someone 0', to: `someone ${n}`, amount: 1_000 })),
  ...[0, 1, 2, 3, 4].map((n) => ({ kind: 'rate' as const, who: `someone ${n}`, id: 1 })),
  { kind: 'derive' },
]

async function take(one: Step, block: number): Promise<void> {
  const { pool } = database
  if (one.kind === 'rate') await rate(one.who, one.id, block)
  if (one.kind === 'pay') await pay(one.who, one.to, block, one.amount)
  if (one.kind === 'unpay')
    await pool.query('delete from settlement_payer where payer = $1', [bytes(addressOf(one.who))])
  if (one.kind === 'mint') await mint(one.id, one.who, block)
  if (one.kind === 'wallet') await seedWallet(pool, { id: one.id, wallet: addressOf(one.who), block, at: time(block) })
  if (one.kind === 'verify')
    await pool.query(
      'insert into verified_address (fid, address, verified_at) values ($1, $2, $3) on conflict do nothing',
      [one.fid, bytes(addressOf(one.who)), time(block)],
    )
  if (one.kind === 'unverify')
    await pool.query('update verified_address set ended_at = $1 where ended_at is null and address = $2', [
      time(block),
      bytes(addressOf(one.who)),
    ])
  if (one.kind === 'back') {
    await deleteWithin(pool, 'base', { fromBlock: block - one.blocks + 1, toBlock: maxBlock }, feedbackTables)
    for (const table of ['registration_transfer', 'registration_wallet'])
      await pool.query(`delete from ${table} where block_number > $1`, [block - one.blocks])
  }
  if (one.kind === 'derive') await derive()
}

async function stored(): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {}
  for (const table of ['feedback_client', 'feedback_edge', 'circle_reach', 'feedback_group'])
    found[table] = (await database.pool.query(`select t::text as row from ${table} t order by 1`)).rows
  return found
}

test('derived step by step, over reorgs, it is what deriving all at once says, again too', async () => {
  const { pool } = database
  const { rows } = await pool.query<{ sql: string }>(`select pg_get_viewdef('feedback_rule') as sql`)
  // Groups of two, so that a few people make some.
  await pool.query(`create or replace view feedback_rule as
    select name, 2 as least_clients, 0.5::numeric as least_share, about from (${rows[0]!.sql.replace(';', '')}) rule`)
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      await pool.query(`truncate feedback, registration_transfer, registration_wallet, settlement_payer, verified_address, feedback_client,
        feedback_edge, circle_reach, feedback_group, due`)
      for (const [block, one] of beginning.entries()) await take(one, block)
      const found = await pool.query<{ rule: string }>('select distinct rule from feedback_flag')
      expect(found.rows.map(({ rule }) => rule).sort()).toEqual([...flagRules])
      for (const [block, one] of steps.entries()) await take(one, beginning.length + block)
      await derive()
      const before = await stored()
      await deriveAgain({ kinds, context: context(), tell: () => {} })
      expect(await stored()).toEqual(before)
      await pool.query('truncate feedback_client, feedback_edge, circle_reach, feedback_group, due')
      await deriveAgain({ kinds, context: context(), tell: () => {} })
      await derive()
      expect(await stored()).toEqual(before)
    }),
    { numRuns: rounds(20, 200), endOnFailure: true },
  )
})
