import { isRolledUp } from '../sql/block-states.ts'
import { isListed } from '../sql/settlement-filter.ts'
import { windowStart } from '../sql/settlement-windows.ts'

// What agents were paid, by chain and window, with and without what they paid themselves: agent_figure has it of what is
// rolled up, agent by agent. How many paid in a window follows from how many paid last in each hour of it; these are
// counted from all pairs once, and move by the pairs that moved. $1 is the time, $2 whether overloads count.

/** Moved pairs of an agent beyond which counting all its pairs is no slower. */
const mostMoves = 20_000

export const recent = ['last_7d', 'last_30d'] as const
export const figureWindows = [...recent, 'ever'] as const
export type FigureWindow = (typeof figureWindows)[number]

const counts = figureWindows.flatMap((window) => [window, `${window}_amount`])
const payers = figureWindows.map((window) => `${window}_payers`)
const earned = counts.map((name) => `earned_${name}`)
export const values = ['newest_at', ...counts, ...payers, ...earned]
export const columns = ['fid', 'chain', 'own', ...values].join(', ')

const each = <T extends string>(names: readonly T[], expression: (name: T) => string) =>
  names.map(expression).join(',\n         ')
const isIn = (time: string, window: FigureWindow) => (window === 'ever' ? 'true' : `${time} >= since.${window}`)
export const sumsOf = (names: readonly FigureWindow[], count: string, amount: string, time: string) =>
  each(
    names,
    (name) => `coalesce(sum(${count}) filter (where ${isIn(time, name)}), 0) as ${name},
         coalesce(sum(${amount}) filter (where ${isIn(time, name)}), 0) as ${name}_amount`,
  )
const zeros = (names: readonly FigureWindow[]) => each(names, (name) => `0 as ${name}, 0 as ${name}_amount`)

/** SQL: the hour of `$1`, from which windows go back. */
export const thisHour = "date_trunc('hour', $1::timestamptz, 'UTC')"

/**
 * Windows begin with a full hour, so that the hours that are summed up are all there is to them. These do not tell who
 * paid: payments from own addresses are few pairs, and are read again where such a pair was active in a window.
 */
export const since = `
since as materialized (
  select ${each(recent, (name) => `date_trunc('hour', ${windowStart[name]('$1::timestamptz')}, 'UTC') as ${name}, ${windowStart[name]('$1::timestamptz')} as ${name}_begins`)}
)`

/** Whether the payers of an agent `a` are being kept for what it is now; `d` is its row of figure_derivation. */
export const isBegun = 'd.overloads = $2::boolean and d.addresses = a.verified_addresses'
/** Whether pairs have only come or been paid by again since, and not so many that counting all of them is no slower. */
export const isMovedLittle = `(
         select count(*) <= ${mostMoves} and not coalesce(bool_or(back), false)
           from (select m.back from payer_move m where m.fid = a.fid limit ${mostMoves} + 1) few)`
export const isKept = `coalesce(d.counted and ${isBegun}, false)`

/** Payments that are not rolled up of the agents in `asked`. */
export const unrolledPayments = `
fresh as materialized (
  select member.fid, unrolled.chain, unrolled.payer, unrolled.payer = any (member.addresses) as is_own, unrolled.last_at,
         ${each(counts, (name) => `unrolled.${name}`)}
    from member
    join unrolled on unrolled.recipient = member.address
)`
export const noPayments = `
fresh as (
  select null::bigint as fid, null::text as chain, null::bytea as payer, false as is_own, null::timestamptz as last_at,
         ${each(counts, (name) => `0::numeric as ${name}`)}
   where false
)`

/**
 * Common table expressions that end with `payment`, of the agents in `asked` (fid, addresses, is_kept: whether their payers
 * are kept), given `fresh` (fid, chain, payer, last_at).
 *
 * Of agents whose payers are kept, only who moved or is in `fresh` is looked up: it has all the pairs of such a payer with
 * the agent, as they are and as they were when agent_payer_hour was written. Of the others it has all pairs, as new ones.
 */
const payments = (fresh: string) => `
member as materialized (
  select fid, addresses, is_kept, address from asked cross join unnest(addresses) as address
),${fresh},
move as materialized (
  select m.fid, m.recipient, m.payer, m.chain, m.overload, (array_agg(m.before order by m.seq))[1] as before
    from asked
    join payer_move m using (fid)
   where asked.is_kept and ($2::boolean or not m.overload)
   group by m.fid, m.recipient, m.payer, m.chain, m.overload
),
late as (
  select fid, payer from move
   union
  select fresh.fid, fresh.payer from fresh join asked using (fid) where asked.is_kept
),
payment as materialized (
  select late.fid, p.chain, late.payer, p.last_at, case when move.fid is null then p.last_at else move.before end as before
    from late
    join member using (fid)
   cross join lateral (
     select p.recipient, p.chain, p.overload, p.last_at
       from settlement_payer p
      where p.recipient = member.address and p.payer = late.payer and ($2::boolean or not p.overload)
     offset 0 -- each is looked up
   ) p
    left join move on move.fid = late.fid and move.recipient = p.recipient and move.payer = late.payer
                  and move.chain = p.chain and move.overload = p.overload
   union all
  select member.fid, p.chain, p.payer, p.last_at, null
    from member
   cross join lateral (
     select p.chain, p.payer, p.last_at
       from settlement_payer p
      where p.recipient = member.address and ($2::boolean or not p.overload)
     offset 0
   ) p
   where not member.is_kept
   union all
  select fid, chain, payer, last_at, null from fresh
)`

/** Who paid, and how many of those paid last in each hour: those that moved now, and those kept. */
const payersByHour = `
payer as materialized (
  select fid, coalesce(chain, '') as chain, payer, max(last_at) as last_at, max(before) as before
    from payment
   group by grouping sets ((fid, chain, payer), (fid, payer))
),
moved_hour as materialized (
  select payer.fid, payer.chain, date_trunc('hour', one.at, 'UTC') as hour, sum(one.n) as n
    from payer
   cross join lateral (values (payer.last_at, 1), (payer.before, -1)) as one (at, n)
   where one.at is not null
   group by payer.fid, payer.chain, 3
  having sum(one.n) <> 0
),
paying as (
  select fid, chain, ${each(figureWindows, (name) => `coalesce(sum(n) filter (where ${isIn('hour', name)}), 0) as ${name}_payers`)}
    from (select fid, h.chain, h.hour, h.payers as n from asked join agent_payer_hour h using (fid) where asked.is_kept
           union all
          select fid, chain, hour, n from moved_hour) part
   cross join since
   group by fid, chain
),
newest as (
  select fid, chain, max(last_at) as newest_at
    from (select fid, f.chain, f.newest_at as last_at
            from asked join agent_figure f using (fid)
           where asked.is_kept and not f.own
           union all
          select payer.fid, payer.chain, payer.last_at
            from payer join asked using (fid)
           where not payer.payer = any (asked.addresses)) one
   group by fid, chain
)`

/** What agents paid themselves, and from how many of their addresses. */
const ownPayments = `
own_pair as materialized (
  select member.fid, p.*
    from member
   cross join lateral unnest(member.addresses) as own (address)
   cross join lateral (
     select *
       from settlement_payer p
      where p.recipient = member.address and p.payer = own.address and ($2::boolean or not p.overload)
     offset 0
   ) p
),
own_paid as (
  select fid, coalesce(chain, '') as chain, ${each(counts, (name) => `sum(${name}) as ${name}`)}
    from (select fid, chain, ${zeros(recent)}, n as ever, amount as ever_amount from own_pair
           union all
          select fid, chain, ${counts.join(', ')} from fresh where is_own
           union all
          select p.fid, p.chain, ${sumsOf(recent, '1', 's.amount', 's.block_timestamp')}, 0, 0
            from own_pair p
           cross join since
           cross join lateral (
             select s.block_timestamp, s.amount
               from settlement s
              where s.chain = p.chain and s.recipient = p.recipient and s.payer = p.payer
                and p.overload <> ${isListed('s.selector')} and s.block_timestamp >= since.last_30d
                and s.block_number >= (select min(h.first_block) from settlement_hourly h
                                        where h.recipient = p.recipient and h.chain = p.chain and h.hour >= since.last_30d)
                and ${isRolledUp('s')}
             offset 0
           ) s
           where p.last_at >= since.last_30d
           group by p.fid, p.chain) part
   group by grouping sets ((fid, chain), (fid))
),
own_paying as (
  select fid, chain, max(last_at) as newest_at,
         ${each(figureWindows, (name) => `count(*) filter (where ${isIn('last_at', name)}) as ${name}_payers`)}
    from (select fid, coalesce(chain, '') as chain, payer, max(last_at) as last_at
            from (select fid, chain, payer, last_at from own_pair
                   union all
                  select fid, chain, payer, last_at from fresh where is_own) one
           group by grouping sets ((fid, chain, payer), (fid, payer))) payer
   cross join since
   group by fid, chain
)`

/** What agents were paid, with what they paid themselves and without. */
const received = `
active as materialized (
  select member.fid, h.chain, h.hour, h.n, h.amount
    from member
   cross join since
   cross join lateral (
     select h.chain, h.hour, h.n, h.amount
       from settlement_hourly h
      where h.recipient = member.address and h.hour >= since.last_30d and ($2::boolean or not h.overload)
     offset 0
   ) h
),
paid as (
  select fid, coalesce(chain, '') as chain, ${each(counts, (name) => `sum(${name}) as ${name}`)}
    from (select member.fid, t.chain, ${zeros(recent)}, t.n as ever, t.amount as ever_amount
            from member
           cross join lateral (
             select * from settlement_total t where t.recipient = member.address and ($2::boolean or not t.overload)
             offset 0
           ) t
           union all
          select fid, chain, ${counts.join(', ')} from fresh
           union all
          select fid, chain, ${sumsOf(recent, 'n', 'amount', 'hour')}, 0, 0
            from active cross join since group by fid, chain) part
   group by grouping sets ((fid, chain), (fid))
),
settled as (
  select paid.fid, paid.chain, counted.own, greatest(newest.newest_at, case when counted.own then own_paying.newest_at end) as newest_at,
         ${each(counts, (name) => `paid.${name} - case when counted.own then 0 else coalesce(own_paid.${name}, 0) end as ${name}`)},
         ${each(payers, (name) => `coalesce(paying.${name}, 0) - case when counted.own then 0 else coalesce(own_paying.${name}, 0) end as ${name}`)}
    from paid
    left join paying using (fid, chain)
    left join newest using (fid, chain)
    left join own_paid using (fid, chain)
    left join own_paying using (fid, chain)
   cross join (values (true), (false)) as counted (own)
)`

/** Income of agents. */
const earnings = `
income as materialized (
  select fid, h.chain, h.hour, h.n, h.amount
    from asked
   cross join since
    join income_hour h using (fid)
   where h.hour >= since.last_30d and h.flag = 'none'
),
earned as (
  select fid, coalesce(chain, '') as chain, ${each(counts, (name) => `sum(${name}) as earned_${name}`)}
    from (select fid, i.chain, ${zeros(recent)}, i.n as ever, i.amount as ever_amount
            from asked join income_agent i using (fid)
           where i.n > 0
           union all
          select fid, chain, ${sumsOf(recent, 'n', 'amount', 'hour')}, 0, 0
            from income cross join since group by fid, chain) part
   group by grouping sets ((fid, chain), (fid))
)`

/**
 * Common table expressions that end with `figure`: the figures of `asked`, given `fresh`, as `payments` are.
 *
 * Income is of final blocks and of every kind, without what an agent paid itself, whether or not that counts elsewhere.
 */
export const figures = (fresh: string) => `${payments(fresh)},${payersByHour},${ownPayments},${received},${earnings},
figure as materialized (
  select fid, chain, own, newest_at, ${each([...counts, ...payers, ...earned], (name) => `coalesce(${name}, 0)${name.endsWith('_amount') ? '' : '::bigint'} as ${name}`)}
    from settled
    full join (select * from earned cross join (values (true), (false)) as counted (own)) earned using (fid, chain, own)
)`
