import { beforeAll, expect, test } from 'vitest'
import { writeContracts } from '../../../db/queries/chain/contracts.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { testDatabase } from '../../support/database.ts'
import { rowsRead } from '../../support/rows-read.ts'
import { addressOf, birth, seedChainState, seedPayment, seedSettlement } from '../../support/seed.ts'

// When a client with very many payments first paid an address in a time that has very many too.

const database = testDatabase()
const seller = addressOf('seller')
const token = addressOf('token')
const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
const time = (block: number) => new Date(+birth + block * 1_000)
const lastBlock = 22_000

let logIndex = 0

/** A client that paid others 20,000 times, from block 1,000 on, and the seller in these blocks. */
async function busy(name: string, how: 'settlement' | 'payment', blocks: readonly number[]) {
  const { pool } = database
  const client = addressOf(name)
  const place = logIndex + 1_000
  await (how === 'settlement' ? settled : paid)(bytes(client), null)
  for (const block of blocks) {
    const shared = { chain: 'base' as const, block, logIndex: place, payer: client, amount: 5n, at: time(block) }
    if (how === 'settlement') await seedSettlement(pool, { ...shared, recipient: seller })
    else await seedPayment(pool, { ...shared, payee: seller, kind: 'permit2_exact', token })
  }
  return client
}

/** 20,000 payments, of one payer to others or of others to one recipient. */
async function settled(payer: Buffer | null, recipient: Buffer | null) {
  await database.pool.query(
    `insert into settlement (amount, block_timestamp, block_number, log_index, chain, selector_source, selector, token, payer,
                             recipient, facilitator, payment_nonce, tx_hash)
     select 5, $4::timestamptz + n * interval '1 second', n, $3, 'base', 'd', '\\xe3ee160e', '\\x01', coalesce($1, int4send(n)),
            coalesce($2, int4send(n)), '\\x02', '\\x03', '\\x04' from generate_series(1000, 21000) n`,
    [payer, recipient, logIndex++, birth],
  )
}

async function paid(payer: Buffer | null, payee: Buffer | null) {
  await database.pool.query(
    `insert into payment (id, chain, block_number, log_index, block_timestamp, kind, token, payer, payee, gross, net, facilitator, tx_hash)
     select $3::int || '-' || n, 'base', n, $3, $4::timestamptz + n * interval '1 second', 'permit2_exact', $5, coalesce($1, int4send(n)),
            coalesce($2, int4send(n)), 5, 5, '\\x02', '\\x04' from generate_series(1000, 21000) n`,
    [payer, payee, logIndex++, birth, bytes(token)],
  )
}

beforeAll(async () => {
  const { pool } = database
  await seedChainState(pool, { chain: 'base', indexed: lastBlock, finalized: lastBlock, at: birth })
  await writeContracts(pool, 'base', [{ address: token, fromBlock: 0 }])
  await settled(null, bytes(seller))
  await paid(null, bytes(seller))
})

test.for([
  ['settlement', 'soon', [500, 1_300, 9_000, 20_900], 1_300],
  ['settlement', 'late', [500, 9_000, 20_400, 20_900], 20_900],
  ['settlement', 'in between', [500, 9_000], null],
  ['payment', 'soon', [500, 1_300, 9_000, 20_900], 1_300],
  ['payment', 'late', [500, 9_000, 20_400, 20_900], 20_400],
  ['payment', 'in between', [500, 9_000], null],
] as const)('a %s that comes %s in the time is looked for among few rows', async ([how, when, blocks, first]) => {
  const { pool } = database
  const client = await busy(`${how} ${when}`, how, blocks)
  while ((await rollUpSettlements({ pool })) > 0);
  await pool.query('vacuum analyze settlement, payment, payment_sum, settlement_hourly')
  let at: Date | null = null
  const read = await rowsRead(
    pool,
    async (db) => {
      const { rows } = await db.query<{ at: Date | null }>(
        `select first_paid_within(7, 'base', $1, $2, $3, $4) as at`,
        [bytes(seller), bytes(client), time(1_000), time(21_000)],
      )
      at = rows[0]!.at
      expect((await db.query('select name from pg_cursors')).rows).toEqual([])
    },
    ['settlement%', 'payment%'],
  )
  expect(at).toEqual(first === null ? null : time(first))
  expect(read).toBeLessThan(8_000)
})
