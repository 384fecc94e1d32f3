import { refundedKinds } from '../../config/payments.ts'
import { hex, type Kind } from './mark.ts'

// Payments by contracts that hold money: the kinds `funders`, who put it in, `escrows`, of which something went back, `escrow hours`,
// whose first charge or capture came or went, and `escrow fees`, what escrows took of them.

/** Kinds of the rows of an escrow's payment, as an SQL list. */
const escrowKinds = refundedKinds.map((kind) => `'${kind}'`).join(', ')

/** SQL: whether a row of the table payment took something back; as the index of these rows says it, and no other. */
export const isRefund = (row: string) => `sign(${row}.net) = -1`

/** SQL: the place of a row on its chain, as in the table escrow_part. */
export const placeOf = (row: string) => `((${row}.block_number::bigint << 32) + ${row}.log_index)`

/** SQL: a place behind those of all rows; both its halves are the largest int. */
const lastPlace = '((2147483647::bigint << 32) + 2147483647)'

/**
 * SQL: key of a payment of an escrow, and of a place where its rows moved: the payee, whose income waits, with the operator, who
 * take turns with others, the chain, the hash of the terms, and the place, with as many digits as any.
 */
const escrowKey = (payee: string, subject: string, chain: string, place: string) =>
  `${hex(payee)} || ${hex(`substr(${subject}, 1, 20)`)} || ':' || ${chain} || ':' || ${hex(`substr(${subject}, 21)`)}
  || ':' || lpad(${place}::text, 20, '0')`

/** SQL: the subject of a key. A key may be without the payee. */
export const subjectOf = (key: string) =>
  `decode(right(split_part(${key}, ':', 1), 40) || split_part(${key}, ':', 3), 'hex')`

/** SQL behind `from`: marks `d` of a kind of payments to an address. */
export const dueOfPayee = (kind: string, address: string) => `due d
      where d.kind = ${kind} and d.key collate "C" > encode(${address}, 'hex')
        and d.key collate "C" < encode(${address}, 'hex') || 'g'`

/** SQL: whether a mark's rows, from its place on, begin in blocks that are archived. */
const beforeArchive = `split_part(d.key, ':', 2) = archive.chain and split_part(d.key, ':', 4)::bigint >> 32 <= archive.block`

/** Where money came first into a job, a channel or an escrow, or did not. A job is paid to others than its fundings. */
const funded = `(
       select m.payee, m.subject, m.chain, bool_or(m.kind = 'job_funding') as is_job, min(${placeOf('m')}) as place
         from moved m
        where funded_subject(m.kind, m.subject) is not null
        group by m.payee, m.subject, m.chain) funding
     cross join lateral (
       select coalesce(case when funding.is_job then (
                         select p.payee from payments_of_subject(funding.subject, funding.chain, funding.place, 20) p
                          where p.kind = 'job_release' limit 1) end, funding.payee)) paid (payee)`

/**
 * The kind `funders`. A payment that is written at the same time is not seen: so each funding marks its subject, whether or not
 * anything was paid behind it.
 */
export const funders = {
  beforeArchive,
  marks: [
    {
      table: 'payment',
      on: ['insert', 'delete'],
      key: escrowKey('paid.payee', 'funding.subject', 'funding.chain', 'funding.place'),
      from: funded,
    },
  ],
  all: [
    {
      table: `payment p where p.kind in ('job_release', 'batch_claim', 'escrow_capture', 'escrow_refund', 'escrow_return')
                          and p.subject is not null`,
      key: escrowKey('p.payee', 'p.subject', 'p.chain', '0'),
    },
  ],
} satisfies Kind

/** The first and the last row that moved of each payment: whether anything of it went back, others may know before long. */
const ends = `(
       select payee, subject, chain, unnest(array[min(${placeOf('moved')}), max(${placeOf('moved')})]) as place
         from moved
        where subject is not null and kind in (${escrowKinds})
        group by payee, subject, chain) escrow`

/** The kind `escrows`. */
export const escrows = {
  beforeArchive,
  marks: [
    {
      table: 'payment',
      on: ['insert', 'delete'],
      key: escrowKey('escrow.payee', 'escrow.subject', 'escrow.chain', 'escrow.place'),
      from: ends,
    },
  ],
  // From the first to the last place there can be: that a row is as it was says nothing of those behind it.
  all: ['0', lastPlace].flatMap((place) => [
    {
      table: `payment p where ${isRefund('p')} and p.subject is not null`,
      key: escrowKey('p.payee', 'p.subject', 'p.chain', place),
    },
    {
      table: 'escrow_part p left join lateral payments_of_subject(p.subject, p.chain, 0, 1) one on true',
      key: escrowKey(`coalesce(one.payee, '')`, 'p.subject', 'p.chain', place),
    },
  ]),
} satisfies Kind

/** Payments whose first charge or capture came or went, from there on. */
const begun = `(
       select payee, subject, chain, min(${placeOf('moved')}) as place
         from moved
        where subject is not null and kind in (${escrowKinds}) and net > 0
        group by payee, subject, chain) escrow
     cross join lateral first_charge(escrow.subject, escrow.chain) one
     where one.place >= escrow.place`

/** The kind `escrow hours`. */
export const escrowHours = {
  beforeArchive,
  marks: [
    {
      table: 'payment',
      on: ['insert', 'delete'],
      key: escrowKey('escrow.payee', 'escrow.subject', 'escrow.chain', 'escrow.place'),
      from: begun,
    },
  ],
  // All of their hours are marked where hours are derived again.
  all: [],
} satisfies Kind

const sumKey = (sum: string) =>
  [hex(`${sum}.payee`), hex(`${sum}.payer`), `${sum}.chain`, hex(`${sum}.funder`)].join(` || ':' || `)

/** The kind `escrow fees`. */
export const escrowFees = {
  marks: [
    {
      table: 'payment_sum',
      on: ['update'],
      key: sumKey('moved'),
      from: 'moved where moved.fees is null and moved.refunded > 0',
    },
  ],
  all: [{ table: 'payment_sum s where s.refunded > 0', key: sumKey('s') }],
} satisfies Kind
