import { paymentKindsThat } from '../../../../config/payments.ts'
import type { BlockRange } from '../../../block-range.ts'
import type { Queryable } from '../../../pool.ts'
import { textList } from '../../sql/json-text.ts'
import type { OtherRow } from '../audit.ts'

/**
 * Adds payments that are not there yet: `rows` is a JSON array of objects with the columns' names. Returns the ids of
 * those that it added.
 */
export async function insertPayments(db: Queryable, rows: string): Promise<string[]> {
  const added = await db.query<{ id: string }>({
    name: 'insert-payments',
    text: `insert into payment select * from json_populate_recordset(null::payment, $1::json) on conflict do nothing
           returning id`,
    values: [rows],
  })
  return added.rows.map(({ id }) => id)
}

const hexText = (column: string) => `'0x' || encode(${column}, 'hex')`

/** SQL: whether the payer of a row is found in other rows. */
const isFundedBefore = (row: string) =>
  `${row}.kind in (${textList(paymentKindsThat(({ isFundedBefore = false }) => isFundedBefore))})`

/** SQL: what certificates hash of a row of `payment`. */
export const tallied = `concat_ws(' ', block_number, log_index, (extract(epoch from block_timestamp) * 1000)::bigint, kind,
                     ${hexText('token')}, ${hexText('payee')}, gross, net, ${hexText('facilitator')}, ${hexText('tx_hash')},
                     case when ${isFundedBefore('payment')} then null else ${hexText('payer')} end,
                     ${hexText('forwarder')}, origin_log_index, depth, ${hexText('subject')})`

/** SQL: the first eight bytes of the SHA-256 of a text, as a number with a sign. */
export const hashed = (text: string) =>
  `('x' || left(encode(sha256(convert_to(${text}, 'UTF8')), 'hex'), 16))::bit(64)::bigint`

/** Totals of the payments of a range: how many, and the sum modulo 2^64 of the first eight bytes of the SHA-256 of each. */
export async function tallyPaymentsWithin(db: Queryable, chain: string, { fromBlock, toBlock }: BlockRange) {
  const { rows } = await db.query<{ payments: number; checksum: string }>({
    name: 'tally-payments-within',
    text: `
select count(*)::float8 as payments,
       mod(mod(coalesce(sum(${hashed('line')}), 0), 18446744073709551616)
         + 18446744073709551616, 18446744073709551616)::text as checksum -- a bigint has a sign, which the sum has not
  from (
    select ${tallied} as line
      from payment
     where chain = $1 and block_number between $2 and $3
  ) payments`,
    values: [chain, fromBlock, toBlock],
  })
  const { payments = 0, checksum = '0' } = rows[0] ?? {}
  return { payments, paymentChecksum: BigInt(checksum) }
}

/** The payments that a range should have. */
interface ExpectedPayments {
  /** A JSON array of rows with the columns' names. */
  readonly rows: string
  /** Whether only payments to known recipients and what these are read with are stored: others are not compared. */
  readonly known: boolean
}

/**
 * Rows of a range that are compared with what they should be; those of a backfill are left alone, and so are rows to
 * unknown recipients that are not expected.
 */
const audited = `t.chain = $1 and t.block_number between $2 and $3
   and not exists (select from backfill b where b.chain = $1 and t.block_number between b.from_block and b.to_block)
   and (not $4::boolean
        or t.id in (select id from expected)
        or exists (select from known_recipient k
                    where k.chain = $1 and k.address = t.payee and k.ended_block is null
                      and (t.block_number > k.to_block or t.block_number < k.next_block)))`
const expected = `expected as materialized (select * from json_populate_recordset(null::payment, $5::json))`
/** SQL: a row as its transaction alone says it, without what was found in others. */
export const told = (row: string) =>
  `to_jsonb(${row}) - 'funder' - case when ${isFundedBefore(row)} then 'payer' else '' end`
const isOther = `not exists (select from expected e where e.id = t.id and ${told('e')} = ${told('t')})`

const valuesOf = (chain: string, { fromBlock, toBlock }: BlockRange, { rows, known }: ExpectedPayments) => [
  chain,
  fromBlock,
  toBlock,
  known,
  rows,
]

/** Whether the stored payments of a range equal the expected ones. */
export async function arePayments(
  db: Queryable,
  chain: string,
  range: BlockRange,
  payments: ExpectedPayments,
): Promise<boolean> {
  const { rows } = await db.query<{ same: boolean }>({
    name: 'are-payments',
    text: `
with ${expected}
select (select count(*) from expected) = (select count(*) from payment t where ${audited})
       and not exists (select from payment t where ${audited} and ${isOther}) as same`,
    values: valuesOf(chain, range, payments),
  })
  return rows[0]?.same === true
}

/** Stored payments of a range that are not among the expected ones, value by value. */
export async function otherPayments(
  db: Queryable,
  chain: string,
  range: BlockRange,
  payments: ExpectedPayments,
): Promise<OtherRow[]> {
  const { rows } = await db.query<OtherRow>({
    name: 'other-payments',
    text: `
with ${expected}
select block_number as "blockNumber", log_index as "logIndex", '0x' || encode(tx_hash, 'hex') as "txHash"
  from payment t
 where ${audited} and ${isOther}`,
    values: valuesOf(chain, range, payments),
  })
  return rows
}

/**
 * Adds the expected payments of a range, and deletes others of it. `blocks`: only in these; absent: in all. Returns how
 * many rows differed.
 */
export async function replacePayments(
  db: Queryable,
  chain: string,
  range: BlockRange,
  payments: ExpectedPayments,
  blocks?: readonly number[],
) {
  const deleted = await db.query<{ id: string }>({
    name: 'delete-other-payments',
    text: `
with ${expected}
delete from payment t
 where ${audited} and ${isOther} and ($6::int[] is null or t.block_number = any ($6))
returning t.id`,
    values: [...valuesOf(chain, range, payments), blocks ?? null],
  })
  const added = await insertPayments(db, payments.rows)
  const gone = new Set(deleted.rows.map(({ id }) => id))
  const changed = added.filter((id) => gone.has(id)).length
  return { missing: added.length - changed, surplus: gone.size - changed, changed }
}
