import { beforeAll, expect, test } from 'vitest'
import { writeContracts } from '../../../db/queries/chain/contracts.ts'
import { derivations } from '../../../derive/derivations.ts'
import { settle } from '../../../derive/pass.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { runIncome } from '../../derive/passes.ts'
import { testDatabase } from '../../support/database.ts'
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

async function log(kind: 'batch_deposit' | 'batch_claim', channel: string, payer: string, block: number, logIndex = 0) {
  const row = { kind, block, logIndex, payer, payee: seller, amount: 1_000_000n, at: time(block) }
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
