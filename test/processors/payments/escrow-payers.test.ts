import { encodeAbiParameters, encodeFunctionData, type Hex, keccak256, numberToHex, pad } from 'viem'
import { beforeAll, expect, test } from 'vitest'
import { chains } from '../../../config/chains.ts'
import type { Queryable } from '../../../db/pool.ts'
import { writeContracts } from '../../../db/queries/chain/contracts.ts'
import { arePayments, insertPayments, tallyPaymentsWithin } from '../../../db/queries/chain/payments/payments.ts'
import { commerceEscrowAbi } from '../../../devnet/chain/abi.ts'
import { rollUpSettlements } from '../../../enrichment/periodic/rollup.ts'
import { paymentContractsOf } from '../../../processors/mapping/payment-kinds.ts'
import { type PaymentRow, paymentsOf } from '../../../processors/mapping/payments.ts'
import { jsonRows } from '../../../processors/store/json-rows.ts'
import { tallyPayments } from '../../../processors/store/payment-tally.ts'
import { toPayment } from '../../../processors/store/settlement-record.ts'
import { runIncome } from '../../derive/passes.ts'
import { testDatabase } from '../../support/database.ts'
import { addressOf, birth, hashOf, insert, seedAgent, seedChainState, seedSettlement } from '../../support/seed.ts'

const database = testDatabase()
const contracts = chains.base.paymentContracts
const escrow = contracts.find(({ kind }) => kind === 'auth_capture')
const published = escrow?.collectors?.[0] as Hex
const seller = addressOf('seller') as Hex
const operator = addressOf('operator') as Hex
const customer = addressOf('customer') as Hex
const stranger = addressOf('somebody well known') as Hex
const token = addressOf('token') as Hex

const members = commerceEscrowAbi.find((one) => one.type === 'function' && one.name === 'void')?.inputs[0]
const topics = {
  authorized: '0x1c81fb2e3bab27f6bb09bee9a0dddf61600b7cbaf2c12683e4864e0cbdb9d284',
  charged: '0x137b0e73e4453f43c2e1ad2552980a0e0c7e988764619974ca26d37a7159940c',
  captured: '0xac1e0db1957daedbc6944bcb4c8dc947ff8101d710671ac2ec26309f7f38d58e',
  refunded: '0x1bf415371b303ca6b8bbb4ce479b177cba5ad15dbe0c9a7750a588aa6bcd25b2',
} as const

interface Told {
  readonly salt: bigint
  readonly payer: Hex
  readonly amount: bigint
  readonly collector?: Hex
}

/** The row that a log of the escrow gives. */
function row(
  block: number,
  topic: keyof typeof topics,
  { salt, payer, amount, collector = published }: Told,
): PaymentRow {
  const expiries = { preApprovalExpiry: 1, authorizationExpiry: 2, refundExpiry: 3, minFeeBps: 0, maxFeeBps: 0 }
  const info = { operator, payer, receiver: seller, token, maxAmount: 100n, ...expiries, feeReceiver: operator, salt }
  const terms = encodeAbiParameters([members!], [info]).slice(2)
  const word = (value: bigint | Hex) => pad(typeof value === 'bigint' ? numberToHex(value) : value).slice(2)
  const own = keccak256(`0x${typeHash}${terms}`)
  const name = keccak256(`0x${word(8453n)}${word(escrow?.address as Hex)}${own.slice(2)}`)
  const data = {
    authorized: [terms, word(amount), word(collector)],
    charged: [terms, word(amount), word(collector), word(0n), word(operator)],
    captured: [word(amount), word(0n), word(operator)],
    refunded: [word(amount), word(collector)],
  }[topic].join('')
  const log = { logIndex: 0, transactionIndex: 0, address: escrow?.address as string, topics: [topics[topic], name] }
  const input = encodeFunctionData({ abi: commerceEscrowAbi, functionName: 'void', args: [info] })
  const transaction = {
    transactionIndex: 0,
    hash: hashOf(`tx ${block}`),
    from: addressOf('sender'),
    to: log.address,
    input,
  }
  const settling = {
    block: { height: block, hash: '0x', timestamp: +birth },
    transaction,
    logs: [{ ...log, data: `0x${data}` }],
  }
  return paymentsOf('base', settling, [], paymentContractsOf(contracts)).payments[0] as PaymentRow
}
const typeHash = keccak256(
  Buffer.from(
    'PaymentInfo(address operator,address payer,address receiver,address token,uint120 maxAmount,uint48 preApprovalExpiry,' +
      'uint48 authorizationExpiry,uint48 refundExpiry,uint16 minFeeBps,uint16 maxFeeBps,address feeReceiver,uint256 salt)',
  ),
).slice(2)

const store = (db: Queryable, ...rows: PaymentRow[]) => insertPayments(db, jsonRows(rows.map(toPayment)))
async function settle() {
  while ((await rollUpSettlements({ pool: database.pool })) > 0);
  while ((await runIncome({ pool: database.pool })) > 0);
}
async function payers(): Promise<Record<string, string>> {
  const { rows } = await database.pool.query<{ block: number; payer: string }>(
    `select block_number as block, '0x' || encode(payer, 'hex') as payer from payment where subject is not null`,
  )
  return Object.fromEntries(rows.map(({ block, payer }) => [block, payer]))
}
/** Sums by payer, which rings, flagged addresses and who has paid whom are read from. */
async function paidBy() {
  const { rows } = await database.pool.query<{ payer: string; amount: number }>(
    `select '0x' || encode(payer, 'hex') as payer, amount::float8 as amount from payment_sum where payee = $1`,
    [Buffer.from(seller.slice(2), 'hex')],
  )
  return Object.fromEntries(rows.map(({ payer, amount }) => [payer, amount]))
}

beforeAll(async () => {
  const { pool } = database
  await seedChainState(pool, { chain: 'base', indexed: 1_000, finalized: 900, at: birth })
  await seedAgent(pool, { fid: 7, addresses: [seller] })
  await insert(pool, 'agent_change', { fid: 7, kind: 'upsert', changed_at: birth })
  await writeContracts(pool, 'base', [{ address: token, fromBlock: 0 }])
})

test('nobody pays by an escrow whom its operator alone names', async () => {
  const { pool } = database
  const own = addressOf('collector of the operator') as Hex
  await store(pool, row(100, 'charged', { salt: 1n, payer: stranger, amount: 10n, collector: own }))
  // The seller's money goes round to the stranger, who had no part in it.
  const round = { chain: 'base', at: birth, amount: 10n } as const
  await seedSettlement(pool, { ...round, payer: seller, recipient: addressOf('friend'), block: 110 })
  await seedSettlement(pool, { ...round, payer: addressOf('friend'), recipient: stranger, block: 111 })
  await settle()
  expect(await payers()).toEqual({ 100: operator })
  const flagged = await pool.query('select address from directory.flagged_addresses where address = $1', [stranger])
  expect(flagged.rows).toEqual([])
  await store(pool, row(101, 'charged', { salt: 2n, payer: customer, amount: 20n }))
  await settle()
  expect(await paidBy()).toEqual({ [operator]: 10, [customer]: 20 })
})

test('what is captured and refunded was paid by whom the money was drawn from, whichever is loaded first', async () => {
  const { pool } = database
  const payment = { salt: 3n, payer: customer, amount: 5n }
  await store(pool, row(201, 'captured', payment), row(202, 'refunded', payment))
  await settle()
  expect(await payers()).toMatchObject({ 201: operator, 202: operator })
  expect(await paidBy()).toEqual({ [operator]: 15, [customer]: 20 })
  await store(pool, row(200, 'authorized', { ...payment, amount: 50n }))
  await settle()
  expect(await payers()).toMatchObject({ 200: customer, 201: customer, 202: customer })
  expect(await paidBy()).toEqual({ [operator]: 10, [customer]: 25 })
  const range = { fromBlock: 200, toBlock: 202 }
  const rows = [
    row(200, 'authorized', { ...payment, amount: 50n }),
    row(201, 'captured', payment),
    row(202, 'refunded', payment),
  ]
  expect(await arePayments(pool, 'base', range, { rows: jsonRows(rows.map(toPayment)), known: false })).toBe(true)
  expect(await tallyPaymentsWithin(pool, 'base', range)).toEqual(tallyPayments(rows))
})
