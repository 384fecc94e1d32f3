import { beforeAll, expect, test } from 'vitest'
import { writeContracts } from '../../../db/queries/chain/contracts.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { testDatabase } from '../../support/database.ts'
import { rowsRead } from '../../support/rows-read.ts'
import {
  addressOf,
  birth,
  hashOf,
  insert,
  seedChainState,
  seedHolding,
  seedPayment,
  seedSettlement,
} from '../../support/seed.ts'

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

/** Makes a client an operator of the agent in these times, in blocks. */
async function isOperator(client: string, times: readonly (readonly [number, number])[]) {
  for (const [from, to] of times) {
    const owner = { fid: 7, address: bytes(client), because: 'operator', from_at: time(from), to_at: time(to) }
    await insert(database.pool, 'income_owner', owner)
  }
}

async function firstPaid(client: string, since: number, before: number): Promise<Date | null> {
  const { rows } = await database.pool.query<{ at: Date | null }>(
    `select first_paid_within(7, 'base', $1, $2, $3, $4) as at`,
    [bytes(seller), bytes(client), time(since), time(before)],
  )
  return rows[0]!.at
}

test('of who was an operator ten times no more rows are read than of others', async () => {
  const { pool } = database
  const client = await busy('often an operator', 'settlement', [500])
  await isOperator(
    client,
    Array.from({ length: 10 }, (_, n) => [2_000 * n + 1_500, 2_000 * n + 1_600] as const),
  )
  while ((await rollUpSettlements({ pool })) > 0);
  await pool.query('vacuum analyze settlement, payment, payment_sum, settlement_hourly')
  const read = await rowsRead(
    pool,
    async (db) => {
      await db.query(`select first_paid_within(7, 'base', $1, $2, $3, $4)`, [
        bytes(seller),
        bytes(client),
        time(1_000),
        time(21_000),
      ])
    },
    ['settlement%', 'payment%'],
  )
  expect(read).toBeLessThan(8_000)
})

test('an operator’s payment through an escrow is told by its first charge, whenever it is captured', async () => {
  const { pool } = database
  const escrowed = async (name: string, charged: number, operator: readonly [number, number]) => {
    const client = addressOf(name)
    const shared = { payer: client, payee: seller, subject: hashOf(name), amount: 5n, token }
    const logIndex = 500_000 + charged
    await seedPayment(pool, { ...shared, kind: 'escrow_charge', block: charged, logIndex, at: time(charged) })
    await seedPayment(pool, { ...shared, kind: 'escrow_capture', block: 7_000, logIndex, at: time(7_000) })
    await isOperator(client, [operator])
    return client
  }
  const before = await escrowed('charged before it was one', 5_500, [6_500, 8_000])
  const meanwhile = await escrowed('charged while it was one', 5_600, [5_000, 6_500])
  while ((await rollUpSettlements({ pool })) > 0);
  expect(await firstPaid(before, 6_000, 9_000)).toEqual(time(7_000))
  expect(await firstPaid(meanwhile, 6_000, 9_000)).toBeNull()
})

test('what a client paid by another contract once it was no operator any more counts, among however many payments', async () => {
  const { pool } = database
  const client = await busy('no operator any more', 'payment', [9_000])
  await isOperator(client, [[300, 800]])
  await insert(pool, 'income_address', {
    fid: 7,
    address: bytes(seller),
    chain: '',
    from_at: '-infinity',
    to_at: 'infinity',
  })
  await seedHolding(pool, { fid: 7, chain: 'base', id: 7, by: seller, block: 1 })
  await insert(pool, 'feedback', {
    id: 'base-7-1',
    chain: 'base',
    agent_id: 7,
    client: bytes(client),
    feedback_index: 1,
    value: 1,
    value_decimals: 0,
    tag1: '',
    tag2: '',
    endpoint: '',
    feedback_uri: '',
    feedback_hash: Buffer.alloc(32),
    block_number: 21_500,
    log_index: 0,
    block_timestamp: time(21_500),
    tx_hash: Buffer.alloc(32),
  })
  while ((await rollUpSettlements({ pool })) > 0);
  const { rows } = await pool.query('select paid, paid_at from judged_feedback where fid = 7')
  expect(rows).toEqual([{ paid: true, paid_at: time(9_000) }])
})

test('a first settlement in an archive counts, if the client was no operator then', async () => {
  const { pool } = database
  await insert(pool, 'settlement_archive', {
    chain: 'base',
    from_block: 0,
    to_block: 99,
    sealed_to: 99,
    partition: 'old',
  })
  const archived = async (name: string, archive_block = 0) => {
    const client = addressOf(name)
    await insert(pool, 'settlement_archive_sum', {
      chain: 'base',
      recipient: bytes(seller),
      payer: bytes(client),
      facilitator: bytes(addressOf('facilitator')),
      overload: false,
      archive_block,
      first_at: time(100),
      last_at: time(900),
      n: 2,
      amount: 5,
      first_paid_at: time(200),
    })
    return client
  }
  const client = await archived('archived')
  const operator = await archived('archived operator')
  const undone = await archived('of no archive', 100)
  await isOperator(operator, [[150, 300]])
  expect(await firstPaid(client, 50, 21_000)).toEqual(time(200))
  expect(await firstPaid(client, 300, 21_000)).toBeNull()
  expect(await firstPaid(operator, 50, 21_000)).toBeNull()
  expect(await firstPaid(undone, 50, 21_000)).toBeNull()
})
