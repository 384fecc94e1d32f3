import { readingLimits } from '../../../config/limits.ts'
import { hasPaid } from '../../due/paid-hours.ts'
import { isRolledUp } from '../sql/block-states.ts'
import { countedFor, otherPayments } from '../sql/income.ts'
import { isListed } from '../sql/settlement-filter.ts'
import { isOwn, ownAmong } from './payment-marks.ts'

const most = readingLimits.payerSettlements

/** Whether all payments of a pair of payer and wallet are of a time when the wallet was the agent's. */
const isWithin = (pair: string) => `exists (
          select from whose w
           where w.address = ${pair}.recipient and w.chain = ${pair}.chain
             and w.from_at <= ${pair}.first_at and ${pair}.last_at < w.to_at)`

/** Whether who paid its recipient by a payment did not get all of that back. Few did, so these are read once, not for each payment. */
const isKept = (payment: string) => `(${payment}.amount > 0 and ${payment}.is_dollar and ${payment}.payer is not null
            and (${payment}.recipient, ${payment}.payer, ${payment}.chain, coalesce(${payment}.funder, ''))
                not in (select payee, payer, chain, funder from emptied))`

/** Common table expression: the sums of an agent's payers of which all went back. */
const emptied = `emptied as materialized (
  select sum.payee, sum.payer, sum.chain, sum.funder
    from (select distinct address from whose) one
    join payment_sum sum on sum.payee = one.address
   where (select yes from countable) and sum.refunded > 0 and not ${hasPaid('sum')}
)`

interface Pairs {
  /** SQL: the agent's id. */
  readonly fid: string
  /** Whether nothing is read of more than `readingLimits.payerSettlements` sums: somebody waits. */
  readonly isBounded: boolean
}

/**
 * Common table expressions, behind `unrolledBlocks`, that end with `pair`: who paid which address of an agent on which
 * chain, by every kind of payment, in blocks that are rolled up; of a payer and an address there may be several. `whose`
 * are the agent's addresses, `own` those that are or were its own and paid, `countable` says whether the sums were read. `has_paid`
 * says of a row whether it is of a payment, more than nothing, and not all that its payer paid went back.
 */
export const payingPairs = ({ fid, isBounded }: Pairs) => `
whose as materialized (select * from income_address where fid = ${fid}),
countable as materialized (${
  isBounded
    ? `
  select (select count(*)
            from (select from whose join settlement_payer p on p.recipient = whose.address limit ${most} + 1) pairs)
       + coalesce((select sum(t.n)
                     from (select distinct address, chain from whose where chain <> '') wallet
                     join settlement_total t on t.recipient = wallet.address and t.chain = wallet.chain), 0)
       + (select count(*)
            from (select from (select distinct address from whose) one
                    join payment p on p.payee = one.address and p.net <> 0 limit ${most} + 1) others) <= ${most} as yes
`
    : 'select true as yes'
}),
${emptied},
pair as (
  select p.recipient, p.payer, p.chain, p.n, p.amount, p.first_at, p.last_at, p.amount > 0 as has_paid
    from whose
    join settlement_payer p on p.recipient = whose.address
   where whose.chain = '' and (select yes from countable)
   union all
  -- All that a payer ever paid a wallet, where all of it was paid while the wallet was the agent's; else row by row.
  select wallet.address, p.payer, p.chain, p.n, p.amount, p.first_at, p.last_at, p.amount > 0
    from (select distinct address, chain from whose where chain <> '') wallet
    join settlement_payer p on p.recipient = wallet.address and p.chain = wallet.chain
   where (select yes from countable) and ${isWithin('p')}
   union all
  select wallet.address, s.payer, wallet.chain, 1, s.amount, s.block_timestamp, s.block_timestamp, s.amount > 0
    from (select distinct address, chain from whose where chain <> '') wallet
   cross join lateral (
     select s.payer, s.amount, s.block_timestamp from settlement s
      where s.recipient = wallet.address and s.chain = wallet.chain
        and not exists (select from settlement_payer p
                         where p.recipient = s.recipient and p.chain = s.chain and p.payer = s.payer
                           and p.overload <> ${isListed('s.selector')} and ${isWithin('p')})
        and exists (select from whose w where w.address = s.recipient and w.chain = s.chain
                       and w.from_at <= s.block_timestamp and s.block_timestamp < w.to_at)
        and ${isRolledUp('s')}
     offset 0
   ) s
   where (select yes from countable)
   union all
  -- What went back to a payer is off the amount, and no payment.
  select one.address, s.payer, s.chain, (paid_at is not null)::int, s.amount, s.paid_at, s.paid_at, s.has_paid
    from (select distinct address from whose) one
   cross join lateral (
     -- Whose money it is counts where that is the agent's own, or it would have as many payers as keys.
     select case when s.funder is not null and ${isOwn(fid, 's.funder', 's.block_timestamp')} then s.funder else s.payer end as payer,
            s.chain, case when s.is_dollar then counted.amount else 0 end as amount,
            case when s.amount >= 0 then s.block_timestamp end as paid_at, ${isKept('s')} as has_paid
       from ${otherPayments}
      ${countedFor(fid, 's')}
      where s.recipient = one.address and ${isRolledUp('s')}
     offset 0
   ) s
   where (select yes from countable)
), ${ownAmong(fid, 'select payer from pair')}`

/** SQL: whether what a pair paid went round. The rings of the agent are read once, not looked up for each pair. */
export const isRing =
  '(pair.recipient, pair.payer) in (select r.recipient, r.payer from whose join income_ring r on r.recipient = whose.address)'
