import { paymentKindsThat } from '../../config/payments.ts'
import { hex, type Kind, type Mark } from './mark.ts'

// Hours in which addresses of agents were paid, from the rows that tell of payments: the kind `income hours`.

const paidHour = hourKey('paid.recipient', 'paid.chain', 'paid.at')

/** Kinds of payments that are no evidence of x402 by themselves: who sent them may be. */
const judgedBySender = ['forwarded', ...paymentKindsThat(({ isIncome, isX402 }) => isIncome && !isX402)]
  .map((kind) => `'${kind}'`)
  .join(', ')

/** Hours of payments whose facilitator got or lost a name. */
const hoursSent = `moved
     cross join lateral (
       select h.recipient, h.chain, h.hour as at
         from income_sender f
         join settlement_hourly h on h.recipient = f.recipient and h.chain = f.chain
                                 and h.hour >= date_trunc('hour', f.first_at, 'UTC') and h.hour <= f.last_at
        where f.facilitator = moved.address
        union all
       select p.payee, p.chain, p.block_timestamp
         from payment p
        where p.facilitator = moved.address and p.kind in (${judgedBySender})) paid
     where ${isIncome('paid.recipient')}`

/** Hours of the payments that builder codes tell of. Each is looked up by its place, never joined: where statistics tell of few rows, whole tables are read. */
const hoursCoded = `(
       ${rolledUp('chain, block_number, log_index')}
       select s.recipient, s.chain, s.block_timestamp as at from rolled ${atPlaceOf('rolled', 'settlement', 's')}
        union all
       select p.payee, p.chain, p.block_timestamp from rolled ${atPlaceOf('rolled', 'payment', 'p')}) paid
     where ${isIncome('paid.recipient')}`

/**
 * Hours of payments, and of what was passed on from the same origins. Neither joined nor found by equal columns: where statistics
 * tell of few rows, all are read so.
 */
const hoursPaid = `(
       ${rolledUp('chain, block_number, origin_log_index, payee, block_timestamp')},
       origins as materialized (
         select chain, block_number, array_agg(distinct origin_log_index) as log_indexes
           from rolled where origin_log_index is not null group by chain, block_number)
       select payee as recipient, chain, block_timestamp as at from rolled
        union all
       select p.payee, p.chain, p.block_timestamp
         from origins
        cross join lateral (
          select * from payment p
           where (p.chain, p.block_number) >= (origins.chain, origins.block_number)
             and (p.chain, p.block_number) <= (origins.chain, origins.block_number)
          offset 0) p
        where p.origin_log_index = any (origins.log_indexes)) paid
     where ${isIncome('paid.recipient')}`

/** Hours of refunds that take off more, or less, than before. */
const hoursRefunded = `(
       select p.payee as recipient, p.chain, p.block_timestamp as at
         from moved
         join payment p on p.chain = moved.chain and p.block_number = moved.place >> 32
                       and p.log_index = moved.place & 4294967295
        where moved.amount < 0 or p.net < 0) paid
     where ${isIncome('paid.recipient')}`

/** The kind `income hours`. */
export const incomeHours = {
  beforeArchive: `split_part(d.key, ':', 2) = archive.chain
    and to_timestamp(split_part(d.key, ':', 3)::bigint * 3600) <= archive.until`,
  marks: [
    {
      table: 'settlement_hourly',
      key: hourKey('moved.recipient', 'moved.chain', 'moved.hour'),
      from: `moved where ${isIncome('moved.recipient')}`,
    },
    { table: 'payment', on: ['insert', 'delete'], key: paidHour, from: hoursPaid },
    { table: 'escrow_part', key: paidHour, from: hoursRefunded },
    { table: 'builder_code', on: ['insert', 'delete'], key: paidHour, from: hoursCoded },
    { table: 'facilitator_sender', on: ['insert', 'delete'], key: paidHour, from: hoursSent },
    {
      table: 'settlement_rollup',
      on: ['update'],
      key: paidHour,
      from: paidBetween('moved join were using (chain)', 'moved.chain', 'were.next_block'),
    },
    {
      table: 'settlement_rollup_backfill',
      on: ['insert'],
      key: paidHour,
      from: paidBetween('moved join backfill b on b.id = moved.backfill_id', 'b.chain', 'b.from_block'),
    },
    {
      table: 'settlement_rollup_backfill',
      on: ['update'],
      key: paidHour,
      from: paidBetween(
        'moved join were using (backfill_id) join backfill b on b.id = moved.backfill_id',
        'b.chain',
        'were.next_block',
      ),
    },
  ],
  all: [
    { table: 'income_hour', key: hourKey('recipient', 'chain', 'hour') },
    {
      table: 'income_address a join settlement_hourly h on h.recipient = a.address',
      key: hourKey('h.recipient', 'h.chain', 'h.hour'),
    },
    {
      table: `income_address a join payment p on p.payee = a.address and ${hasMoved('p')}`,
      key: hourKey('p.payee', 'p.chain', 'p.block_timestamp'),
    },
  ],
} satisfies Kind

/**
 * SQL: whether something came to the payee by a row of `payment`, or went back from it: not what a contract holds for it. Of a
 * token with finer units than millionths of a dollar less than one of these comes too, but nothing of sums goes back by it.
 */
export function hasMoved(row: string): string {
  return `(${row}.net <> 0 or ${row}.fraction_sign > 0)`
}

/** Key of the hour that a time is in: the recipient, the chain, and hours since 1970. */
export function hourKey(recipient: string, chain: string, at: string): string {
  return `${hex(recipient)} || ':' || ${chain} || ':' || floor(extract(epoch from ${at}) / 3600)::bigint`
}

function isIncome(recipient: string): string {
  return `exists (select from income_address a where a.address = ${recipient})`
}

/** Rows that came or went in blocks that are rolled up. */
function rolledUp(columns: string): string {
  return `with rolled as materialized (
         select ${columns} from moved
          where not exists (select from settlement_unrolled u
                             where u.chain = moved.chain and moved.block_number between u.from_block and u.to_block))`
}

/** SQL: joins the row of a table that is at the place of another row, as `alias`. The block alone picks the partition. */
function atPlaceOf(row: string, table: string, alias: string): string {
  return `cross join lateral (
         select * from ${table} one
          where one.chain = ${row}.chain and one.block_number between ${row}.block_number and ${row}.block_number
            and (one.chain, one.block_number, one.log_index) >= (${row}.chain, ${row}.block_number, ${row}.log_index)
            and (one.chain, one.block_number, one.log_index) <= (${row}.chain, ${row}.block_number, ${row}.log_index)
         offset 0) ${alias}`
}

/** Payments in blocks that became rolled up, or are no longer: between where a mark was and where it is. */
function paidBetween(marks: string, chain: string, before: string): string {
  return `${marks}
     cross join lateral (
       select p.payee as recipient, p.chain, p.block_timestamp as at
         from payment p
        where p.chain = ${chain} and p.block_number >= least(${before}, moved.next_block)
          and p.block_number < greatest(${before}, moved.next_block)
       offset 0) paid
     where ${isIncome('paid.recipient')}`
}

// Agents whose payers are others, or are something else to them: marks of the kind `demand`.

/** Of the agents whose income an address is, or was. */
const incomeOf = (address: string) => ({ key: 'i.fid', from: `moved join income_address i on i.address = ${address}` })

/** SQL: whether a payer paid so much, of a row of payment_sum: it came to the payee, and as much of all that was paid did not go back. */
export const hasPaid = (sum: string, atLeast = 1) => `has_paid(${sum}.amount, ${sum}.fees, ${sum}.refunded, ${atLeast})`

/**
 * A payment changes an hour of income once its block is rolled up, which is enough for most keys. The last four rows cover
 * what changes no hour: another payer of the same amount, payers of payments that are in no hour yet, and fees.
 */
export const paidAgentMarks: readonly Mark[] = [
  { table: 'income_address', key: 'fid' },
  { table: 'income_owner', key: 'fid' },
  { table: 'income_hour', key: 'fid' },
  { table: 'settlement_payer', ...incomeOf('moved.recipient') },
  { table: 'payment', on: ['insert', 'delete'], ...incomeOf('moved.payee') },
  {
    table: 'payment_sum',
    on: ['update'],
    key: 'i.fid',
    from: `moved join were using (payee, payer, chain, funder) join income_address i on i.address = moved.payee
     where ${hasPaid('moved')} <> ${hasPaid('were')}`,
  },
  { table: 'income_ring', on: ['insert', 'delete'], ...incomeOf('moved.recipient') },
]

/**
 * The kind `archived owners`: of archived settlements by who was the agent's own for a time, no more than their sums are known. A
 * key is a chain, and behind which agent the next ones are.
 */
export const archivedOwners = {
  marks: [{ table: 'settlement_archive', on: ['insert', 'delete'], key: `chain || ':0'` }],
  // All that these make due is derived again by itself.
  all: [],
} satisfies Kind
