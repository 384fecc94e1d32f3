import type pg from 'pg'
import { listedSelectors } from '../../../abi/selectors.ts'
import type { Queryable } from '../../../db/pool.ts'
import { writeContracts } from '../../../db/queries/chain/contracts.ts'
import { insertPayments } from '../../../db/queries/chain/payments/payments.ts'
import { storeSenders } from '../../../db/queries/sources/facilitators.ts'
import { addressOf, hashOf, seedAgent, seedChainState } from '../../support/seed.ts'

export const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
export const people = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'].map(addressOf)
/** How many of them, the first, are paid as well; the others only pay. */
export const paidPeople = 6
export const senders = ['known', 'other', 'unknown'].map((name) => addressOf(`sender ${name}`))
export const selectors = [...Object.values(listedSelectors), '0xcf092995']
export const dollar = addressOf('dollar')
export const fids = [1, 2]
export const lastBlock = 600
const begin = Date.UTC(2023, 0, 1)
/** Time of a block; 15 days pass every twenty blocks, so that some money comes back too late to be flagged. */
export const timeOf = (block: number) =>
  new Date(begin + block * 11 * 60_000 + Math.floor(block / 20) * 15 * 86_400_000)

export interface Paid {
  readonly block: number
  readonly logIndex: number
  readonly payer: number
  readonly recipient: number
  readonly sender: number
  readonly selector: number
  readonly amount: number
}

/** A settlement or a payment by a Permit2 proxy, and how it was forwarded from hand to hand in the same transaction. */
export interface Passed {
  readonly block: number
  readonly origin: 'settlement' | 'permit2_exact' | 'permit2_upto' | 'batch_claim' | 'escrow_charge' | 'escrow_refund'
  readonly isDollar: boolean
  readonly sender: number
  readonly payer: number
  /** Recipients in order: the first is paid, the others are forwarded to. */
  readonly hands: readonly number[]
  /** 0: less than a millionth, unless it is a settlement. */
  readonly amount: number
}
export interface OtherRow {
  readonly block: number
  readonly logIndex: number
  readonly origin: Passed['origin']
  readonly kind: string
  readonly isDollar: boolean
  readonly sender: number
  readonly payer: number
  readonly recipient: number
  readonly amount: number
  /** Earlier recipients of this money in the transaction, in order. */
  readonly through: readonly number[]
  readonly originLogIndex: number | null
  /** What an escrow's rows of one payment have in common. */
  readonly subject?: number
}

/** Behind the address of nobody, as whoever operates it is nobody that pays. */
const subjectOf = (number: number) => `${addressOf('operator')}${hashOf(`subject ${number}`).slice(2)}`
const text = (hex: string | undefined) => `\\x${hex?.slice(2)}`

export async function storeOthers(db: Queryable, rows: readonly OtherRow[]): Promise<void> {
  const columns = rows.map((row) => ({
    id: `base-${row.block}-${row.logIndex}`,
    chain: 'base',
    block_number: row.block,
    log_index: row.logIndex,
    block_timestamp: timeOf(row.block),
    kind: row.kind,
    token: text(row.isDollar ? dollar : addressOf('token of nobody')),
    payer: text(people[row.payer]),
    payee: text(people[row.recipient]),
    gross: row.amount,
    net: row.amount,
    facilitator: text(senders[row.sender]),
    tx_hash: text(hashOf(`${row.block} ${row.originLogIndex ?? row.logIndex}`)),
    forwarder: row.through.length === 0 ? null : text(people[row.through.at(-1) as number]),
    origin_log_index: row.originLogIndex,
    depth: row.through.length === 0 ? null : row.through.length,
    subject: row.subject === undefined ? null : text(subjectOf(row.subject)),
    fraction_sign: row.amount === 0 ? 1 : null,
  }))
  await insertPayments(db, JSON.stringify(columns))
}

export async function store(pool: pg.Pool, rows: readonly Paid[]): Promise<void> {
  const columns = rows.map((row) => ({
    amount: row.amount,
    block_timestamp: timeOf(row.block),
    block_number: row.block,
    log_index: row.logIndex,
    chain: 'base',
    selector_source: 'c',
    selector: text(selectors[row.selector]),
    token: text(dollar),
    payer: text(people[row.payer]),
    recipient: text(people[row.recipient]),
    facilitator: text(senders[row.sender]),
    payment_nonce: text(hashOf(`${row.block} ${row.logIndex}`)),
    tx_hash: text(hashOf(`${row.block}`)),
  }))
  await pool.query('insert into settlement select * from json_populate_recordset(null::settlement, $1::json)', [
    JSON.stringify(columns),
  ])
}

/** Empties the tables: no payments, and no verified addresses. */
export async function empty(pool: pg.Pool): Promise<void> {
  await pool.query(`
    truncate settlement, payment, payment_sum, settlement_hourly, settlement_hour_total, facilitator_total, settlement_total, settlement_payer, income_sender, chain_state, agent,
             agent_change, verified_address, income_hour, income_total, income_address, income_owner, income_ring, circle_reach, agent_demand,
             due, registration_wallet, registration_approval, registration_operator, builder_code, registration_transfer, agent_holding, chain_contract cascade;
    update settlement_rollup set next_block = 0`)
  await storeSenders(pool, 'test', [])
  await writeContracts(pool, 'base', [{ address: dollar, fromBlock: 0 }])
  await seedChainState(pool, { chain: 'base', indexed: lastBlock, finalized: -1 })
  for (const fid of fids) await seedAgent(pool, { fid, addresses: [] })
}
