import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { writeContracts } from '../../../db/queries/chain/contracts.ts'
import { agentFeedback, everyFeedback } from '../../../db/queries/feedback/page.ts'
import { deriveRatersOf } from '../../../db/queries/feedback/raters.ts'
import { derivations } from '../../../derive/derivations.ts'
import { settle } from '../../../derive/pass.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { runIncome } from '../../derive/passes.ts'
import { testDatabase } from '../../support/database.ts'
import { rounds } from '../../support/rounds.ts'
import { rowsRead } from '../../support/rows-read.ts'
import {
  addressOf,
  birth,
  hashOf,
  insert,
  seedAgent,
  seedChainState,
  seedHolding,
  seedPayment,
  seedRegistration,
  seedVerification,
  seedWallet,
} from '../../support/seed.ts'

// Feedback of keys that signed for money which others had put into a channel.

const database = testDatabase()
const seller = addressOf('seller')
const wallet = addressOf('wallet of the seller')
const stranger = addressOf('stranger')
const key = (name: string) => addressOf(`key ${name}`)
const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
const time = (block: number) => new Date(+birth + block * 60_000)
const ratedAt = 500
const named = addressOf('wallet of the registration')
const namedAt = 300

async function log(
  kind: 'batch_deposit' | 'batch_claim',
  channel: string,
  payer: string,
  block: number,
  logIndex = 0,
  payee = seller,
) {
  const row = { kind, block, logIndex, payer, payee, amount: 1_000_000n, at: time(block) }
  await seedPayment(database.pool, {
    ...row,
    subject: hashOf(`channel ${channel}`),
    ...(kind === 'batch_deposit' && { net: 0n }),
  })
}

/** Feedback by a key; `txHash`: its file names this transaction. */
async function rate(name: string, txHash?: string) {
  const { pool } = database
  await insert(pool, 'feedback', {
    id: `base-${name}`,
    chain: 'base',
    agent_id: 1,
    client: bytes(key(name)),
    feedback_index: 1,
    value: 5,
    value_decimals: 0,
    tag1: '',
    tag2: '',
    endpoint: '',
    feedback_uri: txHash === undefined ? '' : 'https://example.org/file',
    feedback_hash: Buffer.alloc(32),
    block_number: ratedAt,
    log_index: 0,
    block_timestamp: time(ratedAt),
    tx_hash: Buffer.alloc(32),
  })
  if (txHash === undefined) return
  await pool.query(
    `insert into feedback_file (feedback_id, uri_sha256, status, hash, payment_chain_id, payment_tx, read_at)
     values ($1, sha256('https://example.org/file'), 'ok', 'none', 8453, $2, $3)`,
    [`base-${name}`, bytes(txHash), time(ratedAt)],
  )
}

const kinds = derivations.filter(({ kind }) => kind === 'raters' || kind === 'feedback files')
/** What is told of a key's feedback, once everything is derived. */
async function told(name: string) {
  const { pool } = database
  while ((await rollUpSettlements({ pool })) > 0);
  while ((await runIncome({ pool })) > 0);
  await settle(kinds, { pool, now: () => time(1_000), settlementOverloads: 'spec' })
  const { rows } = await pool.query(
    `select f.paid, f.grounds, f.paid_at, f.named_log_index, c.is_idle as idle,
            (payment_behind(f.fid, f.client, f.paid_at) ->> 'log_index')::int as paid_by
       from judged_feedback f join feedback_client c using (client) where fid = 7 and client = $1`,
    [bytes(key(name))],
  )
  return rows[0]
}
const unpaid = { paid: false, grounds: 'none', paid_at: null, named_log_index: null, idle: true, paid_by: null }
const paidAt = (block: number, logIndex = 0) => ({
  ...unpaid,
  paid: true,
  grounds: 'payment',
  paid_at: time(block),
  idle: false,
  paid_by: logIndex,
})

beforeAll(async () => {
  const { pool } = database
  await seedChainState(pool, { chain: 'base', indexed: 1_000, finalized: 900, at: birth })
  await pool.query('update chain_state set chain_id = 8453')
  await seedAgent(pool, { fid: 7, addresses: [seller] })
  await seedRegistration(pool, { chain: 'base', id: 1, owner: seller })
  await seedHolding(pool, { fid: 7, chain: 'base', id: 1, by: seller, block: 0 })
  await seedWallet(pool, { id: 1, wallet: named, block: namedAt, at: time(namedAt) })
  await insert(pool, 'agent_change', { fid: 7, kind: 'upsert', changed_at: birth })
  await writeContracts(pool, 'base', [{ address: addressOf('token'), fromBlock: 0 }])
})

async function ownWallet(address: string) {
  await seedVerification(database.pool, { fid: 7, address, endedAt: birth })
  await insert(database.pool, 'agent_change', { fid: 7, kind: 'upsert', changed_at: birth })
}

test('a key that signs for the money of the agent’s owner has not paid, whenever it is known whose money it is', async () => {
  await rate('one')
  await log('batch_claim', 'one', key('one'), 100)
  expect(await told('one')).toEqual(paidAt(100))
  await log('batch_deposit', 'one', wallet, 90)
  expect(await told('one')).toEqual(paidAt(100))
  await ownWallet(wallet)
  expect(await told('one')).toEqual(unpaid)
  // More that a stranger put in, loaded later.
  await log('batch_deposit', 'one', stranger, 80)
  expect(await told('one')).toEqual(paidAt(100))
  await database.pool.query('delete from payment where block_number = 80')
  expect(await told('one')).toEqual(unpaid)
  // A channel that the payee itself filled.
  await log('batch_deposit', 'of the payee', seller, 110)
  await log('batch_claim', 'of the payee', key('one'), 111)
  expect(await told('one')).toEqual(unpaid)
})

test('what the key paid otherwise stays paid, whatever the owner puts into its channels', async () => {
  await rate('two', hashOf('tx base 120'))
  await log('batch_deposit', 'two', wallet, 119)
  await log('batch_claim', 'two', key('two'), 120, 1)
  await log('batch_deposit', 'of its own', key('two'), 118)
  await log('batch_claim', 'of its own', key('two'), 120, 2)
  expect(await told('two')).toEqual({ ...paidAt(120, 2), grounds: 'payment_named', named_log_index: 2 })
  await rate('three', hashOf('tx base 131'))
  await log('batch_deposit', 'three', wallet, 130)
  await log('batch_claim', 'three', key('three'), 131, 1)
  expect(await told('three')).toMatchObject({ paid: false, grounds: 'file', idle: true })
})

test('a client whose wallet fills the channel that a key of its signs for has paid, by its files too', async () => {
  const { pool } = database
  await rate('owner of a key', hashOf('tx base 141'))
  await log('batch_deposit', 'of a wallet', key('owner of a key'), 140)
  await log('batch_claim', 'of a wallet', key('its session'), 141, 1)
  expect(await told('owner of a key')).toEqual({ ...paidAt(141, 1), grounds: 'payment_named', named_log_index: 1 })
  await pool.query('delete from feedback_file')
  expect(await told('owner of a key')).toEqual(paidAt(141, 1))
  // To a wallet of before, and since.
  await rate('long in it')
  await log('batch_deposit', 'to the wallet', key('long in it'), 150, 0, named)
  for (const block of [151, 310, 320]) await log('batch_claim', 'to the wallet', key('session'), block, 1, named)
  expect(await told('long in it')).toEqual(paidAt(310, 1))
  const { rows } = await pool.query('select is_paid from feedback_edge where client = $1 and address = $2', [
    bytes(key('long in it')),
    bytes(named),
  ])
  expect(rows).toEqual([{ is_paid: true }])
  // A key of the agent's own signs for a stranger's money: it is no income.
  await ownWallet(key('of the agent'))
  await rate('of no customer')
  await log('batch_deposit', 'signed by the agent', key('of no customer'), 160)
  await log('batch_claim', 'signed by the agent', key('of the agent'), 161, 1)
  expect(await told('of no customer')).toEqual(unpaid)
})

const claim = fc.record({
  filledBy: fc.constantFrom('key', wallet, stranger, seller, named),
  payee: fc.constantFrom(seller, named),
  block: fc.integer({ min: 202, max: 800 }),
})

test('whether a key paid is what its claims say one by one, whoever filled the channels', async () => {
  let logged = 1_000
  await fc.assert(
    fc.asyncProperty(fc.array(claim, { minLength: 1, maxLength: 8 }), async (claims) => {
      const name = `of round ${logged}`
      await rate(name)
      for (const { filledBy, payee, block } of claims) {
        const channel = `random ${logged++}`
        await log('batch_deposit', channel, filledBy === 'key' ? key(name) : filledBy, 201, logged, payee)
        await log('batch_claim', channel, key(name), block, logged, payee)
      }
      const counts = claims.filter(
        ({ filledBy, payee, block }) =>
          (filledBy === 'key' || filledBy === stranger || (filledBy === named && block < namedAt)) &&
          (payee === seller || block >= namedAt) &&
          block < ratedAt,
      )
      const first = Math.min(...counts.map(({ block }) => block))
      const { paid, paid_at } = await told(name)
      expect([paid, paid ? paid_at : null]).toEqual([counts.length > 0, counts.length > 0 ? time(first) : null])
    }),
    { numRuns: rounds(15, 100), endOnFailure: true },
  )
})

test('a page of feedback by keys whose channels 50,000 others filled reads few rows, and so does what is derived', async () => {
  const { pool } = database
  const names = ['with money of its own', 'in time', 'all along']
  for (const name of names) {
    await rate(name)
    await told(name)
    const [firstAt, lastAt] = name === 'all along' ? [100, 400] : [310, 310]
    await pool.query(
      `insert into payment_sum (payee, payer, chain, first_at, last_at, amount, funder)
       select $1, $2, 'base', $3, $4, 1, int4send(n) || '\\x0000000000000000'::bytea || int8send(n) from generate_series(1, 50000) n`,
      [bytes(name === names[0] ? seller : named), bytes(key(name)), time(firstAt!), time(lastAt!)],
    )
  }
  await pool.query(
    `insert into payment_sum (payee, payer, chain, first_at, last_at, amount, funder) values ($1, $2, 'gnosis', $3, $3, 1, '')`,
    [bytes(seller), bytes(key(names[0]!)), time(305)],
  )
  // Keys that sign for its money.
  await pool.query(
    `insert into payment_sum (payee, payer, chain, first_at, last_at, amount, funder)
     select $1, int4send(n) || '\\x0000000000000000'::bytea || int8send(n), 'base', $3, $3, 1, $2 from generate_series(1, 50000) n`,
    [bytes(seller), bytes(key('in time')), time(320)],
  )
  await pool.query(
    `insert into payment (id, chain, block_number, log_index, block_timestamp, kind, token, payer, payee, gross, net, facilitator,
                          tx_hash, funder)
     select 'many-' || n, 'base', 400, 100000 + n, $3::timestamptz + n * interval '1 second', 'batch_claim', $4, $2, $1, 1, 1, '\\x01', '\\x02',
            int4send(n) || '\\x0000000000000000'::bytea || int8send(n) from generate_series(1, 50000) n`,
    [bytes(named), bytes(key('all along')), time(400), bytes(addressOf('token'))],
  )
  await pool.query(`
    insert into payment_sum (payee, payer, chain, first_at, last_at, amount)
    select int4send(n % 20000), int4send(n), 'base', now(), now(), 1 from generate_series(1, 60000) n`)
  await pool.query('vacuum analyze payment_sum, payment')
  const { rows } = await pool.query('select client, paid_at from judged_feedback where fid = 7 and client = any ($1)', [
    names.map((name) => bytes(key(name))),
  ])
  const paidAtOf = (name: string) => rows.find((row) => row.client.equals(bytes(key(name))))?.paid_at
  expect(names.map(paidAtOf)).toEqual([time(305), time(310), new Date(+time(400) + 1_000)])
  const tables = ['payment%', 'income_owner']
  const page = () =>
    rowsRead(pool, (db) => agentFeedback(db, { fid: 7, limit: 100, filter: everyFeedback, after: undefined }), tables)
  // Of each client the search for a first payment reads 500 of the payee and 700 of its own of either kind at most.
  expect(await page()).toBeLessThan(names.length * (500 + 700 + 700))
  const clients = names.map((name) => key(name).slice(2))
  expect(await rowsRead(pool, (db) => deriveRatersOf(db, clients), tables)).toBeLessThan(10_000)
})
