import { incomeLimits } from '../../../config/limits.ts'
import { refundedKinds } from '../../../config/payments.ts'
import { textList } from '../sql/json-text.ts'

// What is told of a payment: SQL expressions over a relation as sql/income.ts describes it.

/**
 * SQL: whether an address is or was the agent's own at a time. Of payments; the view judged_feedback says the same of who
 * gave feedback, but for operators. `known`: relation with those of the addresses that ever are the agent's own, for who asks
 * about thousands that mostly are not.
 */
export const isOwn = (
  fid: string,
  address: string,
  at: string,
  known?: string,
) => `${known ? `${address} in (select address from ${known}) and ` : ''}exists (
             select from income_owner o where o.fid = ${fid} and o.address = ${address} and o.from_at <= ${at}
                and (o.because <> 'operator' or o.to_at > ${at}))`

/** A common table expression `own`: those of some addresses, a query, that ever are the agent's own. */
export const ownAmong = (fid: string, addresses: string) => `own as materialized (
  select o.address from income_owner o where o.fid = ${fid} and o.address in (${addresses})
)`

/**
 * SQL: the time of a payment for its flag. What an escrow charges, captures and refunds of one payment has one flag, that of the
 * first charge or capture: whoever names the payer an operator in between could move what went back to another flag than what came.
 */
export const flaggedAt = (payment: string) => `case when ${payment}.kind in (${textList(refundedKinds)})
                  then coalesce((select one.at from first_charge(${payment}.subject, ${payment}.chain) one),
                                ${payment}.block_timestamp)
                  else ${payment}.block_timestamp end`

/** SQL: flag that says what the payer is to the agent; of several the first that applies. `known`: as of `isOwn`. */
export const incomeFlag = (fid: string, payment: string, known?: string) => `case
           when ${payment}.recipient in (${payment}.payer, ${payment}.funder) then 'self'
           when ${isOwn(fid, `${payment}.payer`, flaggedAt(payment), known)} then 'same_owner'
           when ${isOwn(fid, `${payment}.funder`, `${payment}.block_timestamp`, known)} then 'same_owner'
           when exists (select from income_ring r where r.recipient = ${payment}.recipient and r.payer = ${payment}.payer) then 'ring'
           else 'none' end`

/** SQL: whether a payment is dust. */
export const isDust = (payment: string) =>
  `is_dollar and ${payment}.amount >= 0 and ${payment}.amount < ${incomeLimits.dustBelow}`

/** What says that a payment is one of x402: `contract`, one of x402's own settled it; `facilitator`, a known one sent it;
 * `builder_code`, the calldata of its transaction names who had a part in it. */
export const evidence = (payment: string) => `case
           when ${payment}.by_contract then 'contract'
           when ${payment}.facilitator in (select address from facilitator_sender) then 'facilitator'
           when exists (select from builder_code c
                         where (c.chain, c.block_number, c.log_index) = (${payment}.chain, ${payment}.block_number, ${payment}.log_index))
             then 'builder_code'
           else 'none' end`
