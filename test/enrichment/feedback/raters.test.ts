import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { maxBlock } from '../../../db/block-range.ts'
import { deleteWithin } from '../../../db/queries/chain/block-rows.ts'
import { flagRules } from '../../../db/queries/sql/feedback.ts'
import { deriveAgain } from '../../../derive/again.ts'
import { derivations } from '../../../derive/derivations.ts'
import { settle } from '../../../derive/pass.ts'
import { testDatabase } from '../../support/database.ts'
import { rounds } from '../../support/rounds.ts'
import { addressOf, birth, insert, seedWallet } from '../../support/seed.ts'

const database = testDatabase()
const feedbackTables = ['feedback', 'feedback_response'] as const
const kinds = derivations.filter(({ kind }) => ['raters', 'circles', 'rater groups'].includes(kind))
const context = () =>
  ({ pool: database.pool, now: () => new Date(birth.getTime() + 86_400_000), settlementOverloads: 'spec' }) as const
const derive = () => settle(kinds, context())
const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
const time = (block: number) => new Date(birth.getTime() + block * 60_000)

beforeEach(async () => {
  await database.pool.query(`
    truncate feedback, registration_transfer, registration_wallet, settlement_payer, payment_sum, feedback_client, feedback_edge,
             circle_reach, feedback_group, settlement_scope, income_ring, due`)
})

async function mint(id: number, holder: string, block = 0) {
  await insert(database.pool, 'registration_transfer', {
    id: `base-${id}-${block}`,
    chain: 'base',
    agent_id: id,
    from: null,
    to: bytes(addressOf(holder)),
    block_number: block,
    log_index: id,
    block_timestamp: time(block),
    tx_hash: Buffer.alloc(32),
  })
}

async function rate(client: string, id: number, block: number) {
  await insert(database.pool, 'feedback', {
    id: `base-${client}-${id}-${block}`,
    chain: 'base',
    agent_id: id,
    client: bytes(addressOf(client)),
    feedback_index: block,
    value: 1,
    value_decimals: 0,
    tag1: '',
    tag2: '',
    endpoint: '',
    feedback_uri: '',
    feedback_hash: Buffer.alloc(32),
    block_number: block,
    log_index: 0,
    block_timestamp: time(block),
    tx_hash: Buffer.alloc(32),
  })
}

/** A sum by payer and payee as the roll-up leaves it. */
async function pay(payer: string, recipient: string, block: number, amount = 1) {
  await database.pool.query(
    `insert into settlement_payer as s (recipient, payer, chain, overload, last_at, n, amount, first_at, first_paid_at)
     values ($1, $2, 'base', false, $3, 1, $4::numeric, $3, case when $4::numeric > 0 then $3::timestamptz end)
         on conflict (recipient, payer, chain, overload) do update
        set first_at = least(s.first_at, excluded.first_at), first_paid_at = least(s.first_paid_at, excluded.first_paid_at),
            n = s.n + 1, amount = s.amount + excluded.amount`,
    [bytes(addressOf(recipient)), bytes(addressOf(payer)), time(block), amount],
  )
}

async function flags(client: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ rule: string }>(
    'select distinct rule from feedback_flag where client = $1 order by rule',
    [bytes(addressOf(client))],
  )
  return rows.map(({ rule }) => rule)
}
const names = (prefix: string, many: number) => Array.from({ length: many }, (_, n) => `${prefix} ${n}`)

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

/** Each of these holds a registration, from an id on, and rates that of the next. */
async function rateInCircle(round: readonly string[], firstId: number) {
  for (const [n, client] of round.entries()) await mint(firstId + n, client)
  for (const [n, client] of round.entries()) await rate(client, firstId + ((n + 1) % round.length), 10)
}

test('circles of two to six are flagged, not where others rate them too, or beyond', async () => {
  for (const length of [2, 3, 6, 7]) await rateInCircle(names(`round ${length}`, length), 10 * length)
  await derive()
  const first = () => Promise.all([2, 3, 6, 7].map((length) => flags(`round ${length} 0`)))
  expect(await first()).toEqual([['circle'], ['circle'], ['circle'], []])
  await rate('customer', 20, 11)
  await derive()
  expect(await first()).toEqual([[], ['circle'], ['circle'], []])
  await database.pool.query('delete from feedback where client = $1', [bytes(addressOf('customer'))])
  await derive()
  expect(await first()).toEqual([['circle'], ['circle'], ['circle'], []])
})

test('of a circle those are not flagged who paid whom they rated a thousandth of a dollar, all others are', async () => {
  const round = names('member', 6)
  await rateInCircle(round, 1)
  const flagged = async () => (await Promise.all(round.map(flags))).map((rules) => rules.join())
  await pay('member 0', 'member 1', 5)
  await derive()
  expect(await flagged()).toEqual(Array(6).fill('circle'))
  await pay('member 0', 'member 1', 6, 998)
  await pay('member 2', 'member 4', 6, 1_000_000)
  await derive()
  expect(await flagged()).toEqual(Array(6).fill('circle'))
  await pay('member 0', 'member 1', 7)
  await derive()
  expect(await flagged()).toEqual(['', ...Array(5).fill('circle')])
})

test('who pays the wallet of a registration has paid its holder', async () => {
  await rateInCircle(['a', 'b'], 1)
  await seedWallet(database.pool, { id: 2, wallet: addressOf('wallet of b'), block: 5, at: time(5) })
  await pay('a', 'wallet of b', 6, 1_000)
  await derive()
  expect([await flags('a'), await flags('b')]).toEqual([[], ['circle']])
})

test('money that goes round pays for no rating in a circle', async () => {
  await rateInCircle(['a', 'b'], 1)
  await pay('a', 'b', 6, 1_000)
  await derive()
  expect(await flags('a')).toEqual([])
  await insert(database.pool, 'income_ring', { recipient: bytes(addressOf('b')), payer: bytes(addressOf('a')) })
  await derive()
  expect(await flags('a')).toEqual(['circle'])
})

test('who was sent a registration is in no circle by it, until it names a wallet for it before the rating', async () => {
  const { pool } = database
  await mint(1, 'seller')
  await mint(2, 'seller')
  const sent = {
    id: 'base-2-20',
    chain: 'base',
    agent_id: 2,
    from: bytes(addressOf('seller')),
    to: bytes(addressOf('critic')),
    block_number: 20,
    log_index: 0,
    block_timestamp: time(20),
    tx_hash: Buffer.alloc(32),
  }
  await rate('critic', 1, 10)
  await insert(pool, 'registration_transfer', sent)
  await rate('seller', 2, 30)
  await derive()
  expect([await flags('critic'), await flags('seller')]).toEqual([[], []])
  const act = (block: number) =>
    seedWallet(pool, { id: 2, wallet: addressOf('wallet of the critic'), block, logIndex: 1, at: time(block) })
  // What stands in the block of the transfer may be its sender's, and what came behind the rating says nothing of it.
  await act(20)
  await act(40)
  await derive()
  expect(await flags('critic')).toEqual([])
  await act(25)
  await derive()
  expect([await flags('critic'), await flags('seller')]).toEqual([['circle'], ['circle']])
})

test('clients that rate from the wallets of their registrations are in the circle', async () => {
  const { pool } = database
  for (const [id, who] of ['a', 'b'].entries()) {
    await mint(id + 1, `owner ${who}`)
    await seedWallet(pool, { id: id + 1, wallet: addressOf(`wallet ${who}`), block: 5, logIndex: id, at: time(5) })
  }
  await rate('wallet a', 2, 10)
  await rate('wallet b', 1, 10)
  await derive()
  expect([await flags('wallet a'), await flags('wallet b')]).toEqual([['circle'], ['circle']])
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
      amount: fc.constantFrom<number[]>(0, 1, 1_000),
    }),
  },
  fc.record({ kind: fc.constant('unpay' as const), who }),
  fc.record({ kind: fc.constant('mint' as const), id, who }),
  fc.record({ kind: fc.constant('wallet' as const), id, who }),
  fc.record({ kind: fc.constant('back' as const), blocks: fc.integer({ min: 1, max: 10 }) }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('derive' as const) }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Something for each rule. */
const beginning: readonly Step[] = [
  ...['someone 6', 'someone 7'].map((holder, n) => ({ kind: 'mint' as const, id: 4 + n, who: holder })),
  { kind: 'rate', who: 'someone 6', id: 5 },
  { kind: 'rate', who: 'someone 7', id: 4 },
  ...[1, 2, 3, 4].map((n) => ({ kind: 'pay' as const, who: 'someone 0', to: `someone ${n}`, amount: 1 })),
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
      await pool.query(`truncate feedback, registration_transfer, registration_wallet, settlement_payer, feedback_client,
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
