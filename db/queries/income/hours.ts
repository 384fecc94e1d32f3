import type { Queryable } from '../../pool.ts'
import { incomeFlag, incomeKind, isEvidenced, paidAgents } from '../sql/income.ts'
import { isListed } from '../sql/selectors.ts'

/** Payments below it are dust: a thousandth of a dollar, in base units. */
const dustBelow = 1_000

interface Pass {
  /** Hours taken, and settlements in them, about. One hour is taken whole, however many it has. */
  readonly hours: number
  readonly settlements: number
}

/**
 * Sums up anew the income of hours that are due. What is stored of them becomes what their settlements say, so that it
 * does not matter how often an hour is taken. Returns how many hours were taken.
 */
export async function sumDueHours(db: Queryable, { hours, settlements }: Pass): Promise<number> {
  const { rows } = await db.query<{ taken: number }>({
    name: 'sum-due-hours',
    text,
    values: [hours, settlements],
  })
  return rows[0]?.taken ?? 0
}

const key = ['fid', 'hour', 'recipient', 'chain', 'kind', 'flag', 'x402']
const values = ['first_at', 'last_at', 'n', 'amount', 'dust_n', 'dust_amount']
const of = (table: string, names: readonly string[]) => names.map((name) => `${table}.${name}`).join(', ')

const text = `
with picked as materialized (
  select recipient, chain, hour from income_due order by recipient, chain, hour limit $1 for update skip locked
),
sized as (
  select picked.*, sum(size.n) over (order by recipient, chain, hour) - size.n as before
    from picked
   cross join lateral (
     select coalesce(sum(h.n), 0) as n from settlement_hourly h
      where h.recipient = picked.recipient and h.chain = picked.chain and h.hour = picked.hour
   ) size
),
due as materialized (select recipient, chain, hour from sized where before < $2),
done as (
  delete from income_due d using due where (d.recipient, d.chain, d.hour) = (due.recipient, due.chain, due.hour)
),
paid as (
  select h.hour, h.overload, s.*
    from due
    join settlement_hourly h using (recipient, chain, hour)
   cross join lateral (
     select s.recipient, s.chain, s.payer, s.facilitator, s.amount, s.block_timestamp
       from settlement s
      where s.recipient = h.recipient and s.chain = h.chain and s.block_number between h.first_block and h.last_block
        and h.overload <> ${isListed('s.selector')}
        and s.block_timestamp >= h.hour and s.block_timestamp < h.hour + interval '1 hour'
        and not exists (select from settlement_unrolled u
                         where u.chain = s.chain and s.block_number between u.from_block and u.to_block)
     offset 0
   ) s
),
fact as materialized (
  select a.fid, paid.hour, paid.recipient, paid.chain, ${incomeKind('paid.overload')} as kind,
         ${incomeFlag('a.fid', 'paid')} as flag, ${isEvidenced('paid')} as x402,
         min(paid.block_timestamp) as first_at, max(paid.block_timestamp) as last_at, count(*) as n,
         sum(paid.amount) as amount, count(*) filter (where paid.amount < ${dustBelow}) as dust_n,
         coalesce(sum(paid.amount) filter (where paid.amount < ${dustBelow}), 0) as dust_amount
    from paid
   cross join lateral (${paidAgents('paid')}) a
   group by 1, 2, 3, 4, 5, 6, 7
),
gone as (
  delete from income_hour i
   using due
   where (i.recipient, i.chain, i.hour) = (due.recipient, due.chain, due.hour)
     and not exists (select from fact where (${of('fact', key)}) = (${of('i', key)}))
),
stored as (
  insert into income_hour as i (${[...key, ...values].join(', ')})
  select ${[...key, ...values].join(', ')} from fact order by ${key.join(', ')}
      on conflict (${key.join(', ')}) do update
     set (${values.join(', ')}) = row(${of('excluded', values)})
   where (${of('i', values)}) is distinct from (${of('excluded', values)})
)
select count(*)::int as taken from due`
