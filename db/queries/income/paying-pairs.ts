import { readingLimits } from '../../../config/limits.ts'
import { hasMoved, hasPaid } from '../../due/paid-hours.ts'
import { isRolledUp } from '../sql/block-states.ts'
import { countedFor, otherPayments } from '../sql/income.ts'
import { isListed } from '../sql/settlement-filter.ts'
import { flaggedAt, isOwn } from './payment-marks.ts'

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
 * are the agent's addresses, `countable` says whether the sums were read. `has_paid` says of a row whether it is of a
 * payment, more than nothing, and not all that its payer paid went back; `own` whether the payer was the agent's own then.
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
                    join payment p on p.payee = one.address and ${hasMoved('p')} limit ${most} + 1) others) <= ${most} as yes
`
    : 'select true as yes'
}),
${emptied},
${settled},
${single(fid)},
-- When payers are or were the agent's own: looked up for all at once.
own as materialized (
  select o.address, o.from_at, case when o.because = 'operator' then o.to_at else 'infinity' end as to_at
    from income_owner o
   where o.fid = ${fid} and o.address in (select payer from settled union select payer from single)
),
${parted},
pair as (
  select s.recipient, s.payer, s.chain, s.n, s.amount, s.first_at, s.last_at, s.amount > 0 as has_paid,
         ${isOwnAt('s.payer', 's.first_at')} as own
    from settled s
   where not (${isRead} and (s.recipient, s.payer, s.chain, s.overload) in (select recipient, payer, chain, overload from parted))
   union all
  select recipient, payer, chain, sum(n), sum(amount), min(first_at), max(last_at), sum(amount) > 0, own
    from (select part.*, ${isOwnAt('part.payer', 'part.first_at')} as own from part) part
   where ${isRead}
   group by recipient, payer, chain, overload, own
   union all
  select s.recipient, s.payer, s.chain, (s.paid_at is not null)::int, s.amount, s.paid_at, s.paid_at, s.has_paid,
         ${isOwnAt('s.payer', flaggedAt('s'))}
    from single s
)`

/**
 * Common table expression: the sums of settlements that are an agent's income whole, of verified addresses all, and of wallets
 * where all was paid while the wallet was the agent's.
 */
const settled = `settled as materialized (
  select p.*
    from whose
    join settlement_payer p on p.recipient = whose.address
   where whose.chain = '' and (select yes from countable)
   union all
  select p.*
    from (select distinct address, chain from whose where chain <> '') wallet
    join settlement_payer p on p.recipient = wallet.address and p.chain = wallet.chain
   where (select yes from countable) and ${isWithin('p')}
)`

/** Common table expression: the other payments, row by row: to wallets that were not always the agent's, and all but settlements. */
const single = (fid: string) => `single as materialized (
  select wallet.address as recipient, s.payer, wallet.chain, s.amount, s.block_timestamp as paid_at, s.amount > 0 as has_paid,
         'settlement' as kind, null::bytea as subject, s.block_timestamp
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
  select one.address, s.payer, s.chain, s.amount, s.paid_at, s.has_paid, s.kind, s.subject, s.block_timestamp
    from (select distinct address from whose) one
   cross join lateral (
     -- Whose money it is counts where that is the agent's own, or it would have as many payers as keys.
     select case when s.funder is not null and ${isOwn(fid, 's.funder', 's.block_timestamp')} then s.funder else s.payer end as payer,
            s.chain, case when s.is_dollar then counted.amount else 0 end as amount,
            case when s.amount >= 0 then s.block_timestamp end as paid_at, ${isKept('s')} as has_paid,
            s.kind, s.subject, s.block_timestamp
       from ${otherPayments}
      ${countedFor(fid, 's')}
      where s.recipient = one.address and ${isRolledUp('s')}
     offset 0
   ) s
   where (select yes from countable)
)`

/** SQL: whether an address was the agent's own at a time, in a statement with `own`. */
const isOwnAt = (address: string, at: string) => `(${address} in (select address from own) and exists (
           select from own o where o.address = ${address} and o.from_at <= ${at} and o.to_at > ${at}))`

/**
 * Common table expressions: `parted`, the sums by a payer that was the agent's own for a part of their time, and `part`, what they
 * are of: settlements, and of archived ones what each archive has of the sum, which is told by its first. `read` are all stored
 * settlements that these payers signed on those chains. Where they are more than `readingLimits.payerSettlements`, nothing of it is
 * used, and each sum is told by its first payment: nobody but the payer, whom the agent itself chose, makes them many.
 */
const parted = `parted as materialized (
  select s.recipient, s.payer, s.chain, s.overload
    from settled s
   where s.payer in (select address from own)
     and exists (select from own o where o.address = s.payer and o.from_at <= s.last_at and o.to_at > s.first_at)
     and not exists (select from own o where o.address = s.payer and o.from_at <= s.first_at and o.to_at > s.last_at)
),
read as materialized (
  select s.*
    from (select distinct payer, chain from parted) one
   cross join lateral (
     select s.recipient, s.payer, s.chain, s.selector, s.block_number, s.block_timestamp, s.amount
       from settlement s
      where s.payer = one.payer and s.chain = one.chain
      limit ${most} + 1) s
   limit ${most} + 1
),
part as (
  select p.*, 1 as n, read.amount, read.block_timestamp as first_at, read.block_timestamp as last_at
    from parted p
    join read on (read.recipient, read.payer, read.chain) = (p.recipient, p.payer, p.chain)
             and ${isListed('read.selector')} <> p.overload
    left join settlement_archived gone on gone.chain = p.chain
   where ${isRolledUp('read')} and read.block_number > coalesce(gone.to_block, -1)
   union all
  select p.*, kept.n, kept.amount, kept.first_at, kept.last_at
    from parted p
   cross join lateral (
     select one.*
       from settlement_archive_sum one
       join settlement_archive of_it on of_it.chain = one.chain and of_it.from_block = one.archive_block
      where (one.chain, one.recipient, one.payer, one.overload) = (p.chain, p.recipient, p.payer, p.overload)
     offset 0) kept
)`

/** SQL: whether all that `parted` may be of was read. */
const isRead = `(select count(*) <= ${most} from read)`

/** SQL: whether what a pair paid went round. The rings of the agent are read once, not looked up for each pair. */
export const isRing =
  '(pair.recipient, pair.payer) in (select r.recipient, r.payer from whose join income_ring r on r.recipient = whose.address)'

/** SQL behind an aggregate over pairs of a payer: of those when the payer was not the agent's own. */
export const byOthers = 'filter (where not own)'

/**
 * SQL over the pairs of a payer: whether it paid as another than the agent, and did not get all of that back. That is known of what
 * it paid in all; of who was the agent's own for a time something must be left of what it paid as another.
 */
export const haveOthersPaid = `(coalesce(bool_or(has_paid and not own), false)
           and (not bool_or(own) or sum(amount) ${byOthers} > 0))`
