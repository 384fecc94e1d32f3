import { hasMoved } from '../../due/paid-hours.ts'
import type { Queryable } from '../../pool.ts'
import { isArchived, isRolledUp, unrolledBlocks } from '../sql/block-states.ts'
import {
  hourOf,
  isPassedOn,
  otherPayments,
  paidAgents,
  paymentColumns,
  settlementAsPayment,
  settlementKind,
} from '../sql/income.ts'
import { isListed } from '../sql/settlement-filter.ts'
import { evidence, incomeFlag, isDust } from './payment-marks.ts'

/**
 * Sums up again the income of hours, as many of them, in the order given, as have few payments, but the first whole.
 * The sums become what the hours' payments say, so that it does not matter how often an hour is taken; those of archived
 * settlements stay as they are. The totals over all hours move by the difference; nobody else writes hours of income. Call it
 * in a transaction in which nobody else sums up hours. Returns the hours that are left.
 */
export async function sumHours(db: Queryable, hours: readonly string[], payments: number): Promise<string[]> {
  // A sender that gets or loses a name marks the hours it sent in. So no name moves from before names are read here until
  // it is committed who sent in these hours.
  await db.query('lock table facilitator_sender in share mode')
  const { rows } = await db.query<{ key: string }>({ name: 'sum-hours', text, values: [hours, payments] })
  return rows.map((row) => row.key)
}

const key = ['fid', 'hour', 'recipient', 'chain', 'kind', 'flag', 'x402', 'passed_on']
const values = ['first_at', 'last_at', 'n', 'amount', 'dust_n', 'dust_amount', 'other_n']
const columns = [...key, ...values].join(', ')
/** What `income_total` adds up. */
export const totalSums = values.slice(2)
/** Whether one of some sums over `moved` is not as it was. */
const differ = (names: readonly string[]) => names.map((sum) => `sum(sign * ${sum}) <> 0`).join(' or ')
const of = (table: string, names: readonly string[]) => names.map((name) => `${table}.${name}`).join(', ')

const settledKinds = [settlementKind('true'), settlementKind('false')].join(', ')

const text = `
with ${unrolledBlocks},
picked as materialized (
  select key, decode(split_part(key, ':', 1), 'hex') as recipient, split_part(key, ':', 2) as chain, ${hourOf('key')} as hour,
         place
    from unnest($1::text[]) with ordinality as picked (key, place)
),
sized as (
  select picked.*, sum(size.n) over (order by place) - size.n as before
    from picked
   cross join lateral (
     select (select coalesce(sum(h.n), 0) from settlement_hourly h
              where h.recipient = picked.recipient and h.chain = picked.chain and h.hour = picked.hour)
          + (select count(*) from payment p
              where p.payee = picked.recipient and p.chain = picked.chain and ${hasMoved('p')}
                and p.block_timestamp >= picked.hour and p.block_timestamp < picked.hour + interval '1 hour') as n
   ) size
),
due as materialized (
  select recipient, chain, hour, ${isArchived('sized.chain', 'sized.hour')} as archived from sized where before < $2
),
paid as (
  select h.hour, ${settlementKind('h.overload')} as kind, s.*
    from due
    join settlement_hourly h using (recipient, chain, hour)
   cross join lateral (
     select ${settlementAsPayment}
       from settlement s
      where s.recipient = h.recipient and s.chain = h.chain and s.block_number between h.first_block and h.last_block
        and h.overload <> ${isListed('s.selector')}
        and s.block_timestamp >= h.hour and s.block_timestamp < h.hour + interval '1 hour'
        and ${isRolledUp('s')}
     offset 0
   ) s
   where not due.archived
   union all
  select due.hour, s.kind, ${paymentColumns}
    from due
   cross join lateral (
     select *
       from ${otherPayments}
      where s.recipient = due.recipient and s.chain = due.chain
        and s.block_timestamp >= due.hour and s.block_timestamp < due.hour + interval '1 hour'
        and ${isRolledUp('s')}
     offset 0
   ) s
),
sent as (
  insert into income_sender as s (facilitator, recipient, chain, first_at, last_at)
  select facilitator, recipient, chain, min(block_timestamp), max(block_timestamp)
    from paid
   where kind in (${settledKinds})
   group by 1, 2, 3
   order by 1, 2, 3
      on conflict (facilitator, recipient, chain) do update
     set first_at = least(s.first_at, excluded.first_at), last_at = greatest(s.last_at, excluded.last_at)
   where s.first_at > excluded.first_at or s.last_at < excluded.last_at
),
fact as materialized (
  select a.fid, paid.hour, paid.recipient, paid.chain, paid.kind, ${incomeFlag('a.fid', 'paid')} as flag,
         ${evidence('paid')} <> 'none' as x402, ${isPassedOn('paid')} as passed_on,
         min(paid.block_timestamp) as first_at, max(paid.block_timestamp) as last_at,
         count(*) filter (where paid.amount >= 0) as n, -- what goes back to a payer is no payment
         coalesce(sum(a.amount) filter (where is_dollar), 0) as amount, count(*) filter (where ${isDust('paid')}) as dust_n,
         coalesce(sum(paid.amount) filter (where ${isDust('paid')}), 0) as dust_amount,
         count(*) filter (where not is_dollar) as other_n
    from paid
   cross join lateral (${paidAgents('paid')}) a
   where is_dollar or paid.amount >= 0
   group by 1, 2, 3, 4, 5, 6, 7, 8
   union all
  -- Who paid in an archived hour is not known any more: what was summed up of its settlements stays, while the address is
  -- the agent's.
  select ${of('kept', [...key, ...values])}
    from due
    join income_hour kept using (recipient, chain, hour)
   where due.archived and kept.kind in (${settledKinds})
     and exists (select from income_address a
                  where a.fid = kept.fid and a.address = kept.recipient and a.chain in ('', kept.chain)
                    and a.from_at <= kept.last_at and kept.first_at < a.to_at)
),
was as materialized (select i.* from due join income_hour i using (recipient, chain, hour)),
gone as (
  delete from income_hour i
   using was
   where (${of('i', key)}) = (${of('was', key)})
     and not exists (select from fact where (${of('fact', key)}) = (${of('was', key)}))
),
stored as (
  insert into income_hour as i (${columns})
  select ${columns} from fact order by ${key.join(', ')}
      on conflict (${key.join(', ')}) do update
     set (${values.join(', ')}) = row(${of('excluded', values)})
   where (${of('i', values)}) is distinct from (${of('excluded', values)})
),
moved as materialized (
  select ${columns}, 1 as sign from fact union all select ${columns}, -1 from was
),
totalled as (
  insert into income_total as t (chain, kind, flag, x402, ${totalSums.join(', ')})
  select chain, kind, flag, x402, ${totalSums.map((sum) => `sum(sign * ${sum})`).join(', ')}
    from moved where not passed_on
   group by 1, 2, 3, 4
  having ${differ(totalSums)}
   order by 1, 2, 3, 4
      on conflict (chain, kind, flag, x402) do update set ${totalSums.map((sum) => `${sum} = t.${sum} + excluded.${sum}`).join(', ')}
),
earned as (
  insert into income_agent as t (fid, chain, n, amount)
  select fid, chain, sum(sign * n), sum(sign * amount)
    from moved where flag = 'none'
   group by 1, 2
  having ${differ(['n', 'amount'])}
   order by 1, 2
      on conflict (fid, chain) do update set n = t.n + excluded.n, amount = t.amount + excluded.amount
)
select key from sized where before >= $2 order by place`
