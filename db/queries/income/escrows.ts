import { isRefund, placeOf, subjectOf } from '../../due/escrows.ts'
import { hasMoved, hourKey } from '../../due/paid-hours.ts'
import type { Queryable } from '../../pool.ts'
import { lockPayments } from '../rollup/cursor.ts'

/**
 * Makes the running sums of payments of escrows what their rows say, from the places in the keys on, over at most `most` rows
 * of each, as far as something is different. Returns the keys of those that are not done.
 */
export async function sumEscrows(db: Queryable, keys: readonly string[], most: number): Promise<string[]> {
  const { rows } = await db.query<{ key: string }>({ name: 'sum-escrows', text, values: [keys, most] })
  return rows.map(({ key }) => key)
}

/**
 * Marks the hours of the rows of escrows' payments, from the places in the keys on, over at most `most` rows of each. Returns the
 * keys of those that are not done.
 */
export async function markEscrowHours(db: Queryable, keys: readonly string[], most: number): Promise<string[]> {
  const { rows } = await db.query<{ key: string }>({ name: 'mark-escrow-hours', text: markText, values: [keys, most] })
  return rows.map(({ key }) => key)
}

/**
 * Writes payments again that are somebody else's by their fundings, from the places in the keys on, over at most `most` rows of each
 * subject. Returns the keys of those that are not done.
 */
export async function followFundings(db: Queryable, keys: readonly string[], most: number): Promise<string[]> {
  for (const chain of [...new Set(keys.map((key) => key.split(':')[1] as string))].sort()) await lockPayments(db, chain)
  const { rows } = await db.query<{ key: string }>({
    name: 'follow-fundings',
    text: fundingsText,
    values: [keys, most],
  })
  return rows.map(({ key }) => key)
}

/** Counts the fees in sums of payments, given as payee, payer, chain and funder. Call it under `holdRollup`. */
export async function countEscrowFees(db: Queryable, keys: readonly string[]): Promise<void> {
  await db.query({ name: 'count-escrow-fees', text: feesText, values: [keys] })
}

const isOf = (row: string, escrow: string) => `${row}.subject = ${escrow}.subject and ${row}.chain = ${escrow}.chain`

/** What keys name, which begin with `name` and end with a place; some of a payment may be without its payee. */
const moved = `moved as (
  select ${subjectOf('key')} as subject, split_part(key, ':', 2) as chain,
         split_part(key, ':', 4)::bigint as place, regexp_replace(key, '[0-9]+$', '') as name
    from unnest($1::text[]) key
)`

/** SQL: the key of a place. */
const keyAt = (name: string, place: string) => `${name} || lpad((${place})::text, 20, '0')`

const text = `
with ${moved},
-- Where nothing is stored before the first row that moved, the sums begin where the payment does.
escrow as materialized (
  select one.subject, one.chain, one.name, one.last, refund.net is not null as is_refunded,
         case when before.paid is null or refund.net is null then 0 else one.first end as first,
         coalesce(before.paid, 0) as paid, coalesce(before.paid - before.refunded, 0) as remaining
    from (select subject, chain, max(name) as name, min(place) as first, max(place) as last from moved group by 1, 2) one
    left join lateral (
      select r.net from payment r where ${isOf('r', 'one')} and ${isRefund('r')} limit 1) refund on true
    left join lateral (
      select e.paid, e.refunded
        from escrow_part e
       where ${isOf('e', 'one')} and e.place < one.first
       order by e.place desc
       limit 1) before on true
),
found as materialized (
  select escrow.subject, escrow.chain, escrow.remaining, ${placeOf('p')} as place, p.block_timestamp, p.net,
         escrow.paid + sum(greatest(p.net, 0)) over rows_before as paid, escrow.remaining + sum(p.net) over rows_before as up_to
    from escrow
   cross join lateral payments_of_subject(escrow.subject, escrow.chain, escrow.first, $2) p
   where escrow.is_refunded
  window rows_before as (partition by escrow.subject, escrow.chain order by p.block_number, p.log_index)
),
-- What a refund asked for beyond what was left took nothing, so it is no debt of the captures behind it: what is left is the
-- sum since the lowest one before it, where that is below zero.
run as materialized (
  select found.*, up_to - least(0, min(up_to) over (partition by subject, chain order by place)) as remains from found
),
made as materialized (
  select subject, chain, place, block_timestamp, paid, paid - remains as refunded,
         remains - coalesce(lag(remains) over (partition by subject, chain order by place), remaining) as amount
    from run
),
-- Up to where its rows were read, or those that are to go; null: to the last.
read as materialized (
  select escrow.*,
         case when is_refunded then (select case when count(*) = $2 then max(m.place) end from made m where ${isOf('m', 'escrow')})
              else (select e.place from escrow_part e where ${isOf('e', 'escrow')} order by e.place offset $2 - 1 limit 1) end as up_to
    from escrow
),
-- From the last row that moved on, the first that is as it was: so are those behind it.
same as materialized (
  select read.subject, read.chain, min(m.place) as place
    from read
    join made m on ${isOf('m', 'read')} and m.place >= read.last
    join escrow_part e on ${isOf('e', 'm')} and e.place = m.place
   where (e.amount, e.paid, e.refunded, e.block_timestamp) = (m.amount, m.paid, m.refunded, m.block_timestamp)
   group by read.subject, read.chain
),
-- Looked up for each escrow, by whatever statistics.
gone as (
  delete from escrow_part
   where ctid = any (array(
     select old.ctid
       from read
      cross join lateral (
        select e.ctid, e.place
          from escrow_part e
         where ${isOf('e', 'read')} and e.place >= read.first and e.place <= coalesce(read.up_to, e.place)
        offset 0) old
      where not exists (select from made m where ${isOf('m', 'read')} and m.place = old.place)))
),
stored as (
  insert into escrow_part as e (subject, chain, place, block_timestamp, amount, paid, refunded)
  select subject, chain, place, block_timestamp, amount, paid, refunded from made order by 1, 2, 3
      on conflict (subject, chain, place) do update
     set amount = excluded.amount, paid = excluded.paid, refunded = excluded.refunded, block_timestamp = excluded.block_timestamp
   where (e.amount, e.paid, e.refunded, e.block_timestamp)
         <> (excluded.amount, excluded.paid, excluded.refunded, excluded.block_timestamp)
)
select ${keyAt('read.name', 'place')} as key
  from read
 cross join lateral unnest(array[read.up_to + 1, greatest(read.last, read.up_to + 1)]) place
 where read.up_to is not null and not exists (select from same s where ${isOf('s', 'read')})`

const fundingsText = `
with ${moved}
select ${keyAt('name', 'left_at')} as key
  from (select subject, chain, max(name) as name, min(place) as place from moved group by 1, 2) one
 cross join lateral follow_funding(one.subject, one.chain, one.place, $2) left_at
 where left_at is not null`

const markText = `
with ${moved},
read as materialized (
  select escrow.name, ${placeOf('p')} as place, p.payee, p.chain, p.block_timestamp, ${hasMoved('p')} as has_moved
    from (select subject, chain, max(name) as name, min(place) as place from moved group by 1, 2) escrow
   cross join lateral payments_of_subject(escrow.subject, escrow.chain, escrow.place, $2) p
),
marked as (
  insert into due (kind, key)
  select distinct 'income hours', ${hourKey('payee', 'chain', 'block_timestamp')}
    from read
   where has_moved and exists (select from income_address i where i.address = payee)
)
select ${keyAt('name', 'max(place) + 1')} as key from read group by name having count(*) = $2`

const feesText = `
with asked as materialized (
  select decode(part[1], 'hex') as payee, decode(part[2], 'hex') as payer, part[3] as chain, decode(part[4], 'hex') as funder
    from (select string_to_array(key, ':') as part from unnest($1::text[]) key) given
),
counted as materialized (
  select asked.*, fee.fees
    from asked
   cross join lateral (
     select coalesce(sum(escrow_fee(p.kind, p.gross, p.net)), 0) as fees
       from payment p
      where p.payer = asked.payer and p.payee = asked.payee and escrow_fee(p.kind, p.gross, p.net) > 0
        and p.chain = asked.chain and coalesce(p.funder, '') = asked.funder and is_summed(p)
   ) fee
)
update payment_sum s
   set fees = counted.fees
  from counted
 where (s.payee, s.payer, s.chain, s.funder) = (counted.payee, counted.payer, counted.chain, counted.funder)
   and s.fees is distinct from counted.fees`
