import { columns, type FigureWindow, recent, values } from '../rollup/figure-parts.ts'
import { isRolledUp } from '../sql/block-states.ts'
import { isListed } from '../sql/settlement-filter.ts'

const each = (expression: (name: FigureWindow) => string) => recent.map(expression).join(',\n         ')
const sums = recent.flatMap((name) => [name, `${name}_amount`])
const isEarly = (time: string, name: FigureWindow) => `${time} >= since.${name} and ${time} <= since.${name}_begins`
const shown = (name: string) => {
  if (sums.includes(name)) return `f.${name} - coalesce(early.${name}, 0) as ${name}`
  const window = recent.find((one) => name === `${one}_payers`)
  return window ? `f.${name} - coalesce(early_last.${window}, 0) as ${name}` : `f.${name}`
}

/**
 * Common table expressions that end with `exact`: the figures of all agents, given `allFigureSteps`, in windows that begin
 * to the instant. Figures have the whole hour that a window begins in; what was paid in it before the window is subtracted,
 * and so is who paid last in that time. Income keeps its whole hours.
 */
export const exactFigureSteps = `
early_payment as materialized (
  select a.fid, a.addresses, h.chain, s.payer, s.payer = any (a.addresses) as is_own,
         ${each(
           (name) => `count(*) filter (where ${isEarly('s.block_timestamp', name)}) as ${name},
         coalesce(sum(s.amount) filter (where ${isEarly('s.block_timestamp', name)}), 0) as ${name}_amount`,
         )}
    from since
    join settlement_hourly h on h.hour in (${recent.map((name) => `since.${name}`).join(', ')}) and ($2::boolean or not h.overload)
    join verified_address v on v.address = h.recipient
    join everyone a on a.fid = v.fid and h.recipient = any (a.addresses)
   cross join lateral (
     select s.payer, s.amount, s.block_timestamp
       from settlement s
      where s.chain = h.chain and s.recipient = h.recipient and s.block_number between h.first_block and h.last_block
        and h.overload <> ${isListed('s.selector')} and (${recent.map((name) => isEarly('s.block_timestamp', name)).join(' or ')})
        and ${isRolledUp('s')}
     offset 0 -- each recipient is looked up
   ) s
   group by a.fid, a.addresses, h.chain, s.payer
   union all
  select a.fid, a.addresses, u.chain, u.payer, u.payer = any (a.addresses), ${sums.map((name) => `u.early_${name}`).join(', ')}
    from unrolled u
    join verified_address v on v.address = u.recipient
    join everyone a on a.fid = v.fid and u.recipient = any (a.addresses)
   where ${recent.map((name) => `u.early_${name} > 0`).join(' or ')}
),
early as materialized (
  select fid, coalesce(chain, '') as chain, own, ${sums.map((name) => `sum(${name}) as ${name}`).join(', ')}
    from early_payment
   cross join (values (true), (false)) as counted (own)
   where own or not is_own
   group by grouping sets ((fid, chain, own), (fid, own))
),
early_pair as materialized (
  select fid, payer, is_own, unnest(addresses) as address
    from (select distinct fid, addresses, payer, is_own from early_payment) one
),
early_payer as (
  select fid, coalesce(chain, '') as chain, is_own, max(last_at) as last_at
    from (select e.fid, e.payer, e.is_own, p.chain, p.last_at
            from early_pair e
           cross join lateral (
             select p.chain, p.last_at
               from settlement_payer p
              where p.recipient = e.address and p.payer = e.payer and ($2::boolean or not p.overload)
             offset 0 -- each is looked up
           ) p
           union all
          select e.fid, e.payer, e.is_own, u.chain, u.last_at
            from early_pair e
            join unrolled u on u.recipient = e.address and u.payer = e.payer) pair
   group by grouping sets ((fid, payer, is_own, chain), (fid, payer, is_own))
),
early_last as materialized (
  select fid, chain, own, ${each((name) => `count(*) filter (where ${isEarly('last_at', name)}) as ${name}`)}
    from early_payer
   cross join since
   cross join (values (true), (false)) as counted (own)
   where own or not is_own
   group by fid, chain, own
),
exact as not materialized (
  select f.fid, f.chain, f.own, ${values.map(shown).join(', ')}
    from (select ${columns} from figure union all select ${columns} from derived) f
    left join early using (fid, chain, own)
    left join early_last using (fid, chain, own)
)`
