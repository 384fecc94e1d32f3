import { type PaymentKind, paymentKinds, paymentKindsThat } from '../../../config/payments.ts'
import { placeOf } from '../../due/escrows.ts'
import { hasMoved, hourKey } from '../../due/paid-hours.ts'
import { textList } from './json-text.ts'

// What income means, over a payment: a relation with the columns recipient, chain, payer, facilitator, block_timestamp,
// block_number, log_index, kind, amount, `subject` and `funder`, as in the table, and `through`, the addresses of the same
// transaction that the money went through, null: none. Arguments are SQL
// expressions written in this folder, never values.

/** Kinds of payment, in the order in which they are told: settlements by the form of the signature, and the others. */
export const incomeKinds = [
  'eip3009_vrs',
  'eip3009_bytes',
  'forwarded',
  ...paymentKindsThat(({ isIncome }) => isIncome),
] as const

const x402Kinds = textList(paymentKindsThat(({ isX402 }) => isX402))

/** Kind of a settlement, by whether the signature was taken as bytes. */
export const settlementKind = (overload: string) => `case when ${overload} then 'eip3009_bytes' else 'eip3009_vrs' end`

/** SQL: whether a row of income_address applies on the chain and at the time of a payment. */
const isThen = (address: string, payment: string) => `${address}.chain in ('', ${payment}.chain)
        and ${address}.from_at <= ${payment}.block_timestamp and ${payment}.block_timestamp < ${address}.to_at`

/** SQL: whether the money went through an address of the agent in the same transaction: then it was counted there. */
const wasCounted = (fid: string, payment: string) => `(${payment}.through is not null and exists (
             select from income_address before
              where before.fid = ${fid} and before.address = any (${payment}.through) and ${isThen('before', payment)}))`

/**
 * SQL: joins what a payment to an address of the agent's brings it, as `counted.amount`; none: nothing. That the address is the
 * agent's then is not looked up.
 */
export const countedAmount = (fid: string, payment: string) => `cross join lateral (
        select *
          from (select case when ${payment}.amount < 0 then (${takenBack(fid, payment)})
                            else ${payment}.amount end as amount) one
         where one.amount is not null and not ${wasCounted(fid, payment)}) counted`

/** SQL query: the agents whose income a payment is, each once, with the amount. */
export const paidAgents = (payment: string) => `
     select its.fid, counted.amount
       from (
     select distinct i.fid
       from income_address i
      where i.address = ${payment}.recipient and ${isThen('i', payment)}) its
      ${countedAmount('its.fid', payment)}`

/**
 * SQL: what a refund takes off the income of an agent, below zero; null: nothing. It takes back what came first, so of what was
 * paid while the address was the agent's it takes what it has in common with that.
 */
function takenBack(fid: string, refund: string): string {
  // Rows behind the refund are not looked at: their sums are made after its own.
  const paidBefore = (time: string) => `coalesce((
                   select e.paid from escrow_part e
                    where e.subject = part.subject and e.chain = part.chain and e.block_timestamp < ${time}
                      and (e.block_timestamp, e.place) <= (part.block_timestamp, part.place)
                    order by e.block_timestamp desc, e.place desc limit 1), 0)`
  return `
          select nullif(sum(least(0, greatest(part.refunded + part.amount, ${paidBefore('lower(period)')})
                                     - least(part.refunded, ${paidBefore('upper(period)')}))), 0)
            from escrow_part part
           cross join lateral (
             select unnest(range_agg(tstzrange(i.from_at, i.to_at))) as period
               from income_address i
              where i.fid = ${fid} and i.address = ${refund}.recipient and i.chain in ('', ${refund}.chain)) its
           where part.subject = ${refund}.subject and part.chain = ${refund}.chain and part.place = ${placeOf(refund)}`
}

/** Whether a payment went through an address of any agent, whose income it was there. */
export const isPassedOn = (payment: string) => `(${payment}.through is not null and exists (
             select from income_address before
              where before.address = any (${payment}.through) and ${isThen('before', payment)}))`

/** Columns that settlements `s` and the rows of `otherPayments` have in common. */
export const settlementAsPayment = `s.recipient, s.chain, s.payer, s.facilitator, s.block_number, s.block_timestamp, s.log_index,
             s.tx_hash, s.token, s.amount::numeric(78, 0) as amount, true as is_dollar, false as by_contract,
             null::bytea as forwarder, null::bytea[] as through, null::bytea as subject, null::bytea as funder`

const names = [
  'recipient',
  'chain',
  'payer',
  'facilitator',
  'block_number',
  'block_timestamp',
  'log_index',
  'tx_hash',
  'token',
  'amount',
  'is_dollar',
  'by_contract',
  'forwarder',
  'through',
  'subject',
  'funder',
]
/** The columns of `settlementAsPayment`, read from `otherPayments`. */
export const paymentColumns = names.map((name) => `s.${name}`).join(', ')
/** The same, with the amount that is an agent's income: of `counted`. */
export const countedPaymentColumns = names
  .map((name) => (name === 'amount' ? 'counted.amount' : `s.${name}`))
  .join(', ')
/** SQL: a row of `paidAgents`, as `counted`, if a payment is income of an agent. */
export const countedFor = (fid: string, payment: string) => `cross join lateral (
       select its.amount from (${paidAgents(payment)}) its where its.fid = ${fid}) counted`

/** SQL: whether a row of `payment` is in a token that is counted as dollars. */
export const isDollar = (payment: string) => `exists (select from chain_contract c
                       where c.chain = ${payment}.chain and c.address = '0x' || encode(${payment}.token, 'hex')
                         and c.from_block <= ${payment}.block_number)`

const holding = paymentKindsThat(({ held }) => held !== 0)
const byKind = (payment: string, value: (kind: PaymentKind) => string) =>
  `case ${payment}.kind ${holding.map((kind) => `when '${kind}' then ${value(kind)}`).join(' ')} end`
/** SQL: whether a row of `payment` moves what a contract holds for its payee. */
export const isHolding = (payment: string) => `${payment}.kind in (${textList(holding)})`
/** SQL of such a row: 1, it adds to it, or -1. */
export const heldSign = (payment: string) => byKind(payment, (kind) => `${paymentKinds[kind].held}`)
/** SQL of such a row: the kind of the contract. */
export const heldContract = (payment: string) => byKind(payment, (kind) => `'${paymentKinds[kind].contract}'`)

/**
 * SQL relation `s`: payments other than settlements, with the columns of settlements and their kind. Money that a contract
 * holds for a payee has come to nobody yet.
 */
export const otherPayments = `(
       select p.payee as recipient, p.chain, p.payer, p.facilitator, p.block_number, p.block_timestamp, p.log_index,
              p.tx_hash, p.token, p.net as amount,
              -- Of a forwarded payment as well: that no payment is stored as its origin does not make it one of a settlement.
              ${isDollar('p')} as is_dollar,
              p.kind in (${x402Kinds}) or case when p.origin_log_index is not null then (
                -- Neither joined nor found by equal columns: where statistics tell of few rows, whole indexes and blocks are read so.
                select origin.kind from payment origin
                 where (origin.chain, origin.block_number, origin.log_index) >= (p.chain, p.block_number, p.origin_log_index)
                   and (origin.chain, origin.block_number, origin.log_index) <= (p.chain, p.block_number, p.origin_log_index)) end
                in (${x402Kinds}) as by_contract,
              p.forwarder,
              case when p.forwarder is not null then array(
                with recursive hop (address, depth) as (
                  select p.forwarder, p.depth - 1
                   union
                  select b.forwarder, b.depth - 1
                    from hop
                    join payment b on b.chain = p.chain and b.block_number = p.block_number
                                  and b.origin_log_index = p.origin_log_index and b.payee = hop.address
                                  and b.depth = hop.depth
                )
                select address from hop) end as through,
              p.subject, p.funder, p.kind
         from payment p
        where ${hasMoved('p')}) s`

/** SQL statement that marks hours as due to be summed up again; `hours` is a query for recipient, chain and hour. */
export const markHours = (hours: string) => `
insert into due (kind, key)
select distinct 'income hours', ${hourKey('recipient', 'chain', 'hour')} from (${hours}) hours`

/** SQL: the hour of a key. */
export const hourOf = (key: string) => `to_timestamp(split_part(${key}, ':', 3)::bigint * 3600)`

/** SQL behind `from`: marks `d` of the hours of an address. Found by the index of keys, as the queue may be long, of dead rows too. */
export const dueHours = (address: string) => `due d
      where d.kind = 'income hours' and d.key collate "C" > encode(${address}, 'hex') || ':'
        and d.key collate "C" < encode(${address}, 'hex') || ';'`
