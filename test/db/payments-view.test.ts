import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { amendChain, chains } from '../../config/chains.ts'
import { ensureChainRows } from '../../db/chain-rows.ts'
import { inTransaction } from '../../db/pool.ts'
import { writeContracts } from '../../db/queries/chain/contracts.ts'
import { testDatabase } from '../support/database.ts'
import { addressOf, birth, insert, seedChainState, seedPayment } from '../support/seed.ts'

// The view `payments`, as who may read nothing but the views reads it.

const database = testDatabase()
const [payee, payer, dollar, fine] = ['payee', 'payer', 'dollar', 'fine dollar'].map(addressOf) as [
  string,
  string,
  string,
  string,
]
const subject = `0x${'5b'.repeat(32)}`
const bytes = (address: string) => Buffer.from(address.slice(2), 'hex')
const at = (block: number) => new Date(birth.getTime() + block * 1_000)

beforeAll(async () => {
  const { pool } = database
  await seedChainState(pool, { chain: 'base', indexed: 1_000, finalized: 4 })
  await writeContracts(
    pool,
    'base',
    [dollar, fine].map((address) => ({ address, fromBlock: 0 })),
  )
  const paid = { payee, payer, token: dollar }
  await seedPayment(pool, { ...paid, kind: 'permit2_exact', block: 1, at: at(1), amount: 1_500_000n })
  await seedPayment(pool, { ...paid, kind: 'permit2_exact', block: 2, at: at(2), amount: 5_000_000n, token: fine })
  const units = '5000000000000000007'
  const exact = (block: number, amount: string) => ({
    id: `base-${block}-0`,
    chain: 'base',
    block_number: block,
    log_index: 0,
    base_units: amount,
    decimals: 18,
  })
  await insert(pool, 'exact_amount', exact(2, units))
  await seedPayment(pool, { ...paid, kind: 'escrow_charge', block: 3, at: at(3), amount: 9_000_000n, subject })
  await seedPayment(pool, { ...paid, kind: 'escrow_refund', block: 4, at: at(4), amount: -4_000_000n, subject })
  const any = addressOf('any token')
  await seedPayment(pool, { ...paid, kind: 'permit2_upto', block: 5, at: at(5), amount: 10n ** 60n, token: any })
  await seedPayment(pool, { ...paid, kind: 'batch_deposit', block: 6, at: at(6), amount: 7n, net: 0n })
  const fraction = { ...paid, amount: 0n, token: fine }
  await seedPayment(pool, { ...fraction, kind: 'escrow_charge', block: 7, at: at(7), fractionSign: 1 })
  await insert(pool, 'exact_amount', exact(7, '7'))
  await seedPayment(pool, { ...fraction, kind: 'escrow_refund', block: 8, at: at(8), fractionSign: -1 })
  await insert(pool, 'exact_amount', exact(8, '-5'))
})

const asReader = (statement: string, values: unknown[] = []) =>
  inTransaction(database.pool, async (db) => {
    await db.query('set local role directory_reader; set local search_path = directory')
    return (await db.query(statement, values)).rows
  })

test('a dollar that the chain table does not list has no symbol, least of all that of another one', async () => {
  const rows = await asReader('select distinct token_symbol from payments where recipient_bytes = $1', [bytes(payee)])
  expect(rows).toEqual([{ token_symbol: null }])
})

test('it has single payments of every kind, exact, with what they are of, and nothing that a contract holds', async () => {
  const tokens = [
    { address: dollar, decimals: 6, fromBlock: 0 },
    { address: fine, decimals: 18, fromBlock: 0, symbol: 'FINE' },
  ]
  const before = chains.base.tokens
  amendChain('base', { tokens })
  onTestFinished(() => amendChain('base', { tokens: before }))
  await inTransaction(database.pool, ensureChainRows)
  const rows = await asReader(
    `select kind, token_symbol, amount::text, base_units::text, decimals, amount_usdc::text, subject, final
       from payments where recipient_bytes = $1 order by block_number`,
    [bytes(payee)],
  )
  const none = { token_symbol: 'USDC', decimals: 6, subject: null, final: true }
  const charged = { amount: '9000000', base_units: '9000000', amount_usdc: '9.000000' }
  const back = { amount: '-4000000', base_units: '-4000000', amount_usdc: '-4.000000' }
  const small = { ...none, token_symbol: 'FINE', decimals: 18, amount: '0', final: false }
  expect(rows).toEqual([
    { ...none, kind: 'permit2_exact', amount: '1500000', base_units: '1500000', amount_usdc: '1.500000' },
    {
      ...none,
      kind: 'permit2_exact',
      token_symbol: 'FINE',
      decimals: 18,
      amount: '5000000',
      base_units: '5000000000000000007',
      amount_usdc: '5.000000000000000007',
    },
    { ...none, kind: 'escrow_charge', ...charged, subject },
    { ...none, kind: 'escrow_refund', ...back, subject },
    {
      kind: 'permit2_upto',
      token_symbol: null,
      amount: `1${'0'.repeat(60)}`,
      base_units: null,
      decimals: null,
      amount_usdc: null,
      subject: null,
      final: false,
    },
    { ...small, kind: 'escrow_charge', base_units: '7', amount_usdc: '0.000000000000000007' },
    { ...small, kind: 'escrow_refund', base_units: '-5', amount_usdc: '-0.000000000000000005' },
  ])
})

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly Plans?: readonly Plan[]
}
const nodesOf = (plan: Plan): readonly Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

test('of many payments those of a payee in a time are found by an index over both', async () => {
  await database.pool.query(
    `insert into payment (id, chain, block_number, log_index, block_timestamp, kind, token, payer, payee, gross, net,
                          facilitator, tx_hash)
     select 'base-' || n || '-0', 'base', n, 0, $1::timestamptz + n * interval '1 second', 'permit2_exact', $2,
            sha256((n % 900)::text::bytea), case n % 4 when 0 then $3::bytea else sha256((n % 700)::text::bytea) end, 5, 5,
            '\\x02', sha256(n::text::bytea)
       from generate_series(100, 60000) n`,
    [birth, bytes(dollar), bytes(payee)],
  )
  await database.pool.query('analyze payment')
  const statement = `select tx_hash, base_units, amount_usdc from payments
    where recipient_bytes = '\\x${payee.slice(2)}' and block_timestamp >= '${at(50_000).toISOString()}'
      and block_timestamp < '${at(50_400).toISOString()}' order by block_timestamp`
  expect(await asReader(statement)).toHaveLength(100)
  const [{ 'QUERY PLAN': plans }] = await asReader(`explain (format json) ${statement}`)
  const nodes = nodesOf(plans[0].Plan)
  expect(nodes.filter((node) => node['Node Type'] === 'Seq Scan' && node['Relation Name'] === 'payment')).toEqual([])
  const indexes = nodes.filter((node) => node['Index Name']?.startsWith('payment'))
  expect(indexes.map((node) => node['Index Name'])).toEqual(['payment_by_payee'])
  expect(indexes[0]!['Index Cond']).toMatch(/payee = .*block_timestamp >= .*block_timestamp </)
})
