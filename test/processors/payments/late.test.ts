import { expect, test } from 'vitest'
import { lockClasses } from '../../../db/lock-keys.ts'
import { inTransaction } from '../../../db/pool.ts'
import { holdUnloaded, replacePaymentsOf } from '../../../db/queries/chain/payments/late.ts'
import { insertPayments, tallyPaymentsWithin } from '../../../db/queries/chain/payments/payments.ts'
import type { PaymentRow } from '../../../processors/mapping/payments.ts'
import { jsonRows } from '../../../processors/store/json-rows.ts'
import { tallyPayments } from '../../../processors/store/payment-tally.ts'
import { toPayment } from '../../../processors/store/settlement-record.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf, birth, hashOf } from '../../support/seed.ts'

const database = testDatabase()

const paid = (blockNumber: number, logIndex: number, gross: bigint): PaymentRow => ({
  chain: 'base',
  blockNumber,
  logIndex,
  blockTimestamp: +birth,
  kind: 'escrow_charge',
  token: addressOf('token'),
  payer: addressOf('payer'),
  payee: addressOf('payee'),
  gross,
  net: gross,
  facilitator: addressOf('facilitator'),
  txHash: hashOf(`tx ${blockNumber}`),
  forwarder: null,
  originLogIndex: null,
  depth: null,
  subject: null,
})
const json = (rows: readonly PaymentRow[]) => jsonRows(rows.map(toPayment))

test('what is loaded late into certified blocks is in their certificates, and what it replaces is not', async () => {
  const { pool } = database
  const before = [paid(10, 0, 1n), paid(10, 1, 2n), paid(25, 0, 3n)]
  await insertPayments(pool, json(before))
  await pool.query(`
    insert into backfill (id, chain, from_block, to_block, completed_at) overriding system value values (1, 'base', 0, 20, now());
    insert into backfill_shard (backfill_id, first_block, last_block, next_block) values (1, 0, 9, 10), (1, 10, 20, 21)`)
  const { payments, paymentChecksum } = tallyPayments(before.slice(0, 2))
  await pool.query('update backfill_shard set payments = $1, payment_checksum = $2 where first_block = 10', [
    payments,
    String(paymentChecksum),
  ])
  await pool.query(
    `insert into audit_certificate (chain, from_block, to_block, first_hash, last_hash, settlements, amount, checksum,
                                    missing, surplus, changed, unpaid, source, payments, payment_checksum)
     values ('base', 21, 30, '', '', 0, 0, 0, 0, 0, 0, 0, 'portal', 1, $1)`,
    [String(tallyPayments(before.slice(2)).paymentChecksum)],
  )
  // The first stays, the second is another now, and the third is new, as are those of other blocks.
  const found = [paid(5, 0, 9n), paid(10, 0, 1n), paid(10, 1, 4n), paid(10, 2, 5n), paid(25, 0, 3n), paid(26, 0, 7n)]
  const blocks = [5, 10, 25, 26]
  const txHashes = blocks.map((block) => Buffer.from(hashOf(`tx ${block}`).slice(2), 'hex'))
  const came = { found: json(found), kept: json(found), blocks, txHashes }
  expect(await replacePaymentsOf(pool, 'base', came)).toBe(4)
  expect(await replacePaymentsOf(pool, 'base', came)).toBe(0)
  const { rows } = await pool.query(`
    select first_block as "fromBlock", last_block as "toBlock", payments::int, payment_checksum::text as checksum
      from backfill_shard
     union all
    select from_block, to_block, payments::int, payment_checksum::text from audit_certificate order by 1`)
  for (const { fromBlock, toBlock, payments, checksum } of rows) {
    const table = await tallyPaymentsWithin(pool, 'base', { fromBlock, toBlock })
    expect({ payments, paymentChecksum: BigInt(checksum) }).toEqual(table)
  }
  expect(rows.map(({ payments }) => payments)).toEqual([1, 3, 2])
})

test('blocks that a backfill has still to load are told, and whether somebody is at work', async () => {
  const { pool } = database
  await pool.query(`
    insert into backfill (id, chain, from_block, to_block) overriding system value values (2, 'base', 100, 199);
    insert into backfill_shard (backfill_id, first_block, last_block, next_block) values (2, 100, 149, 120), (2, 150, 199, 200)`)
  const told = () => inTransaction(pool, (db) => holdUnloaded(db, 'base'))
  expect(await told()).toEqual([{ fromBlock: 120, toBlock: 149, isBusy: false }])
  await inTransaction(pool, async (worker) => {
    await worker.query('select pg_advisory_xact_lock($1, 2)', [lockClasses.backfillCommand])
    expect(await told()).toEqual([{ fromBlock: 120, toBlock: 149, isBusy: true }])
  })
})
