import type pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readChains } from '../../../config/chains.file.ts'
import { lockClasses } from '../../../db/lock-keys.ts'
import { writeChainState } from '../../../db/queries/chain/chain-state.ts'
import { arePayments, insertPayments, replacePayments } from '../../../db/queries/chain/payments/payments.ts'
import { expectedPayments } from '../../../processors/audit/mend.ts'
import type { PaymentRow } from '../../../processors/mapping/payments.ts'
import type { SettledBlocks } from '../../../processors/mapping/settle-blocks.ts'
import type { SettlementRow } from '../../../processors/mapping/settlements.ts'
import { ofKnownRecipients, ofReadRecipients, updateRecipients } from '../../../processors/scope/recipients.ts'
import { keepVerified } from '../../../processors/scope/scope.ts'
import { chainRows, wallet } from '../../support/chain/rows.ts'
import { unverify, verify, verifyStranger } from '../../support/chain/scope.ts'
import { createTestDatabase, type OwnDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const chain = readChains({ env: {} }).base
const known = `0x${'a1'.repeat(20)}`
const other = `0x${'b2'.repeat(20)}`
const first = Math.min(...chain.tokens.map(({ fromBlock }) => fromBlock))

let database: OwnDatabase
beforeEach(async () => {
  database = await createTestDatabase()
  await moveTo(database.pool, 3_000_000)
  await keepVerified(database.pool, chain, async () => 0)
  // As if the scope had been `verified` from the first block.
  await database.pool.query('update settlement_scope set complete_to = -1')
})
afterEach(() => database.drop())

test('an address that becomes verified while a batch is written is loaded up to the end of the batch', async () => {
  const batch = await begin()
  expect(await ofKnownRecipients(batch, chain, settled(payment(known)))).toEqual(settled())
  await verify(database.pool, 1, known)
  const updating = updateRecipients(database.pool, chain)
  await untilWaiting()
  await moveTo(batch, 3_000_100)
  await batch.query('commit')
  batch.release()
  expect(await updating).toEqual({ added: 1, ended: 0 })
  expect(await recipients()).toEqual([{ address: known, next_block: first, to_block: 3_000_100, ended_block: null }])
})

test('a batch that begins while an address becomes known keeps its settlements', async () => {
  const batch = await begin()
  await verify(database.pool, 1, known)
  const blocker = await begin()
  await blocker.query('select pg_advisory_xact_lock_shared($1, $2)', [lockClasses.scope, chain.id])
  const updating = updateRecipients(database.pool, chain)
  await untilWaiting()
  const reading = ofKnownRecipients(batch, chain, settled(payment(known), payment(other)))
  await blocker.query('commit')
  blocker.release()
  await updating
  expect(await reading).toEqual(settled(payment(known)))
  await batch.query('commit')
  batch.release()
})

test('what an address misses while it is not verified begins above the newest final block', async () => {
  await verify(database.pool, 1, known)
  await updateRecipients(database.pool, chain)
  await database.pool.query('update known_recipient set next_block = to_block + 1')
  await moveTo(database.pool, 3_000_200)
  await unverify(database.pool, 1, known)
  expect(await updateRecipients(database.pool, chain)).toEqual({ added: 0, ended: 1 })
  const ended = { address: known, next_block: 3_000_001, to_block: 3_000_000, ended_block: 3_000_190 }
  expect(await recipients()).toEqual([ended])
  expect(await updateRecipients(database.pool, chain)).toEqual({ added: 0, ended: 0 })

  await moveTo(database.pool, 3_000_900)
  await verify(database.pool, 2, known)
  expect(await updateRecipients(database.pool, chain)).toEqual({ added: 1, ended: 0 })
  const again = { address: known, next_block: 3_000_191, to_block: 3_000_900, ended_block: null }
  expect(await recipients()).toEqual([again])
})

test('a load that was not at its end goes on where it stood when the address is verified again', async () => {
  await verify(database.pool, 1, known)
  await updateRecipients(database.pool, chain)
  await database.pool.query('update known_recipient set next_block = 2900000')
  await unverify(database.pool, 1, known)
  await updateRecipients(database.pool, chain)
  await moveTo(database.pool, 3_000_900)
  await verify(database.pool, 1, known)
  await updateRecipients(database.pool, chain)
  const again = { address: known, next_block: 2_900_000, to_block: 3_000_900, ended_block: null }
  expect(await recipients()).toEqual([again])
})

test('addresses of accounts outside the directory are not known until they hold a registration or are listed', async () => {
  await verifyStranger(database.pool, 7, known)
  await verifyStranger(database.pool, 8, other)
  expect(await updateRecipients(database.pool, chain)).toEqual({ added: 0, ended: 0 })
  const rows = chainRows(database.pool)
  const token = { chain: 'base', id: 1 } as const
  await rows.transfer(token, null, known, new Date())
  await rows.transfer(token, known, wallet(5), new Date()) // held, and not any more
  expect(await updateRecipients(database.pool, chain)).toEqual({ added: 1, ended: 0 })
  await database.pool.query(
    `insert into agent (fid, chains, verified_addresses, claimed, agent_status, registered_at, listed_at, search, changed_at)
     values (8, '{}', '{}', false, 'historical', now(), now(), '', now())`,
  )
  expect(await updateRecipients(database.pool, chain)).toEqual({ added: 1, ended: 0 })
  expect((await recipients()).map(({ address }) => address).toSorted()).toEqual([known, other])
  await database.pool.query('delete from agent')
  expect(await updateRecipients(database.pool, chain)).toEqual({ added: 0, ended: 1 })
})

test('chains do not know each other', async () => {
  await verify(database.pool, 1, known)
  await updateRecipients(database.pool, chain)
  const { celo } = readChains({ env: {} })
  expect(await ofKnownRecipients(database.pool, celo, settled(payment(known)))).toEqual(settled())
})

test('with a forwarded payment to a known address goes what it is read with: its payment and the hops before it', async () => {
  await verify(database.pool, 1, known)
  await updateRecipients(database.pool, chain)
  const found = { settlements: [], payments: forwarded, unpaid: [] }
  const { payments } = await ofKnownRecipients(database.pool, chain, found)
  expect(payments).toEqual(read)
})

test('an audit of known recipients mends the payment and the hops before a forwarded payment, and takes no row away', async () => {
  const { pool } = database
  await verify(pool, 1, known)
  await updateRecipients(pool, chain)
  await pool.query('update known_recipient set next_block = to_block + 1')
  const range = { fromBlock: 3_000_050, toBlock: 3_000_050 }
  // As if all of these had been known before.
  await insertPayments(pool, expectedPayments('all', { payments: forwarded }).rows)
  const kept = await ofReadRecipients(pool, chain, { settlements: [], payments: forwarded, unpaid: [] })
  const expected = expectedPayments('verified', kept)
  const rightly = () => arePayments(pool, 'base', range, expected)
  const stored = async () => (await pool.query('select * from payment order by id')).rows
  const before = await stored()
  expect(await rightly()).toBe(true)
  expect(await replacePayments(pool, 'base', range, expected)).toEqual({ missing: 0, surplus: 0, changed: 0 })
  expect(await stored()).toEqual(before)

  await pool.query("delete from payment where id = 'base-3000050-1'")
  await pool.query("update payment set net = net + 1 where id = 'base-3000050-3'")
  expect(await rightly()).toBe(false)
  expect(await replacePayments(pool, 'base', range, expected)).toEqual({ missing: 1, surplus: 0, changed: 1 })
  expect(await rightly()).toBe(true)
  expect(await stored()).toEqual(before)
})

function settled(...settlements: SettlementRow[]): SettledBlocks {
  return { settlements, payments: [], unpaid: [] }
}

/** Sets the processor's indexed block, which is the head too; the final block is ten below it. */
async function moveTo(db: pg.Pool | pg.PoolClient, indexedBlock: number) {
  const state = { chain: 'base', chainId: chain.id, indexedBlock, indexedAt: new Date(), headBlock: indexedBlock }
  await writeChainState(db, { ...state, finalizedBlock: indexedBlock - 10 })
}

async function begin(): Promise<pg.PoolClient> {
  const client = await database.pool.connect()
  await client.query('begin')
  return client
}

/** Resolves once a transaction waits for the scope's lock. */
function untilWaiting() {
  return until('a transaction waits for the scope', async () => {
    const { rows } = await database.pool.query(
      `select from pg_locks where locktype = 'advisory' and classid = ${lockClasses.scope} and not granted
          and database = (select oid from pg_database where datname = current_database())`,
    )
    return rows.length > 0
  })
}

async function recipients() {
  const { rows } = await database.pool.query(
    `select '0x' || encode(address, 'hex') as address, next_block, to_block, ended_block from known_recipient`,
  )
  return rows
}

function payment(recipient: string): SettlementRow {
  const address = `0x${'cc'.repeat(20)}`
  const hash = `0x${'dd'.repeat(32)}`
  return {
    chain: 'base',
    blockNumber: 3_000_050,
    logIndex: 0,
    blockTimestamp: 0,
    amount: 1n,
    token: address,
    payer: address,
    recipient,
    facilitator: address,
    paymentNonce: hash,
    txHash: hash,
    selector: '0xe3ee160e',
    selectorSource: 'c',
  }
}

function paid(logIndex: number, payee: string, hop: Partial<PaymentRow> = {}): PaymentRow {
  const { chain, blockNumber, blockTimestamp, token, payer, facilitator, txHash } = payment(payee)
  const place = { chain, blockNumber, blockTimestamp, token, payer, facilitator, txHash }
  const amounts = { gross: 4n, net: 4n }
  return {
    ...place,
    ...amounts,
    logIndex,
    payee,
    kind: 'permit2_exact',
    forwarder: null,
    originLogIndex: null,
    depth: null,
    subject: null,
    ...hop,
  }
}

const hop = (depth: number, originLogIndex = 1) =>
  ({ kind: 'forwarded', forwarder: other, originLogIndex, depth }) as const
/** What a forwarded payment to a known address needs. */
const read = [paid(1, other), paid(3, other, hop(1)), paid(4, known, hop(2))]
/** The same, with what it does not need: a hop behind it, another block and another payment with what was forwarded of it. */
const forwarded = [
  ...read,
  paid(5, other, hop(3)),
  paid(6, other),
  paid(7, other, hop(1, 6)),
  { ...paid(1, other), blockNumber: 3_000_049 },
]
