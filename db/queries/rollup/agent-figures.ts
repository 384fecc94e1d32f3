import type { Queryable } from '../../pool.ts'
import { allowLargeSums } from '../server/transaction-settings.ts'
import { unrolledBlocks } from '../sql/block-states.ts'
import { isListed } from '../sql/settlement-filter.ts'
import { holdRollup } from './cursor.ts'
import {
  columns,
  figures,
  figureWindows,
  isBegun,
  isKept,
  isMovedLittle,
  noPayments,
  recent,
  since,
  sumsOf,
  thisHour,
  unrolledPayments,
  values,
} from './figure-parts.ts'

/** Whether the figures of `d` are of windows that begin later than now: the clock was set back. */
const isOfLater = `coalesce(d.derived_in > ${thisHour}, false)`

/**
 * Common table expressions with the figures of all agents as the facts are now, to the row. `derived`: those of agents that
 * nothing was paid since they were derived. `figure`: those of the others, who are due or have payments that are not rolled
 * up; they are made here.
 */
export const allFigureSteps = `
with ${unrolledBlocks},${since},
everyone as materialized (
  select a.fid, a.verified_addresses as addresses, ${isKept} as is_kept, ${isOfLater} as is_of_later
    from agent a left join figure_derivation d using (fid)
),
unrolled as materialized (
  select s.recipient, s.payer, u.chain, max(s.block_timestamp) as last_at,
         ${sumsOf(figureWindows, '1', 's.amount', 's.block_timestamp')},
         ${recent
           .map((name) => {
             const filter = `filter (where s.block_timestamp >= since.${name} and s.block_timestamp <= since.${name}_begins)`
             return `count(*) ${filter} as early_${name}, coalesce(sum(s.amount) ${filter}, 0) as early_${name}_amount`
           })
           .join(',\n         ')}
    from unrolled_blocks u
   cross join since
   cross join lateral (
     select s.recipient, s.payer, s.block_timestamp, s.amount
       from settlement s
      where s.chain = u.chain and s.block_number between u.from_block and u.to_block
        and ($2::boolean or ${isListed('s.selector')})
     offset 0
   ) s
   group by s.recipient, s.payer, u.chain
),
stale as materialized (
  select fid from everyone where not is_kept or is_of_later
   union
  select key::bigint from due where kind = 'figures' and due_at <= $1
   union
  select fid
    from (select fid, unnest(addresses) as address from everyone) one
    join (select distinct recipient from unrolled) paid on paid.recipient = one.address
),
asked as materialized (
  select a.fid, a.addresses, a.is_kept and ${isMovedLittle} as is_kept from everyone a join stale using (fid)
),${figures(unrolledPayments)},
derived as not materialized (
  select f.* from agent_figure f where f.fid in (select fid from everyone) and f.fid not in (select fid from stale)
)`

/** An agent that changed, or whose pairs moved much, since it was seen that its payers are kept is due again: it waits. */
const deriveFigures = `
with ${unrolledBlocks},${since},
asked as materialized (
  select a.fid, a.verified_addresses as addresses, d.counted as is_kept
    from agent a
    join figure_derivation d using (fid)
   where a.fid = any ($3::bigint[]) and ${isBegun} and (not d.counted or ${isMovedLittle})
),${figures(noPayments)},
payer_hour as (
  select m.fid, m.chain, m.hour, m.n + coalesce(h.payers, 0) as payers
    from moved_hour m
    left join agent_payer_hour h using (fid, chain, hour)
),
gone_hours as (
  delete from agent_payer_hour h
   using payer_hour n
   where (h.fid, h.chain, h.hour) = (n.fid, n.chain, n.hour) and n.payers = 0
),
stored_hours as (
  insert into agent_payer_hour (fid, chain, hour, payers)
  select fid, chain, hour, payers from payer_hour where payers <> 0
      on conflict (fid, chain, hour) do update set payers = excluded.payers
),
told as (delete from payer_move where fid in (select fid from asked)),
counted as (
  update figure_derivation set counted = true, derived_in = ${thisHour}
   where fid in (select fid from asked) and (not counted or derived_in <> ${thisHour})
),
gone as (
  delete from agent_figure f
   where f.fid in (select fid from asked)
     and not exists (select from figure n where (n.fid, n.chain, n.own) = (f.fid, f.chain, f.own))
),
stored as (
  insert into agent_figure (${columns})
  select ${columns
    .split(', ')
    .map((name) => `n.${name}`)
    .join(', ')}
    from figure n
    left join agent_figure f using (fid, chain, own)
   where f.fid is null
      or (${values.map((name) => `f.${name}`).join(', ')})
         is distinct from (${values.map((name) => `n.${name}`).join(', ')})
      on conflict (fid, chain, own) do update
     set (${values.join(', ')}) = row(${values.map((name) => `excluded.${name}`).join(', ')})
)
select fid, least(min(hour) filter (where hour >= since.last_7d) + interval '7 days 1 hour',
                  min(hour) + interval '30 days 1 hour') as "dueAt"
  from (select fid, hour from active union all select fid, hour from income) one
 cross join since
 group by fid`

/** Due whatever the clock says, even one that is set back before the payers are counted. */
const atOnce = new Date(0)

interface FigureOptions {
  readonly fids: readonly number[]
  readonly settlementOverloads: 'spec' | 'all'
  readonly now: Date
  /** Whether payers are counted again that are kept. */
  readonly again: boolean
}

/**
 * Makes the stored figures of some agents what is rolled up. Returns when each is due again by time alone: at the next full
 * hour at which something leaves a window.
 *
 * Counting an agent's payers begins in a transaction of its own, in which nothing is rolled up: whatever is from then on
 * tells which pairs it moved. All agents given are due again at once then.
 */
export async function deriveFiguresOf(
  db: Queryable,
  { fids, settlementOverloads, now, again }: FigureOptions,
): Promise<{ readonly fid: number; readonly dueAt: Date }[]> {
  const overloads = settlementOverloads === 'all'
  await forgetFigures(db, fids)
  if (await beginCounts(db, { fids, overloads, again })) return fids.map((fid) => ({ fid, dueAt: atOnce }))
  await allowLargeSums(db)
  const { rows } = await db.query<{ fid: number; dueAt: Date }>({
    name: 'derive-figures',
    text: deriveFigures,
    values: [now, overloads, fids],
  })
  return rows
}

/** Starts keeping payers for agents that have none kept. Returns whether there was one. */
async function beginCounts(
  db: Queryable,
  { fids, overloads, again }: { fids: readonly number[]; overloads: boolean; again: boolean },
): Promise<boolean> {
  const { rows } = await db.query<{ fid: number }>({
    name: 'figures-to-begin',
    text: `
select a.fid
  from agent a
  left join figure_derivation d using (fid)
 where a.fid = any ($1::bigint[])
   and not coalesce(${isBegun} and (not d.counted or not $3::boolean and ${isMovedLittle}), false)`,
    values: [fids, overloads, again],
  })
  if (rows.length === 0) return false
  await holdRollup(db)
  await db.query({
    name: 'begin-figures',
    text: `
with forgotten as (delete from agent_payer_hour where fid = any ($1::bigint[]))
insert into figure_derivation (fid, addresses, overloads, counted)
select fid, verified_addresses, $2, false from agent where fid = any ($1)
    on conflict (fid) do update
   set addresses = excluded.addresses, overloads = excluded.overloads, counted = excluded.counted`,
    values: [rows.map(({ fid }) => fid), overloads],
  })
  return true
}

/** Deletes the figures of FIDs that are no longer agents. */
async function forgetFigures(db: Queryable, fids: readonly number[]): Promise<void> {
  await db.query({
    name: 'forget-figures',
    text: `
with departed as materialized (
  select fid from unnest($1::bigint[]) as one (fid) where not exists (select from agent a where a.fid = one.fid)
),
hours as (delete from agent_payer_hour where fid in (select fid from departed)),
moves as (delete from payer_move where fid in (select fid from departed)),
kept as (delete from figure_derivation where fid in (select fid from departed))
delete from agent_figure where fid in (select fid from departed)`,
    values: [fids],
  })
}

/** Makes due the agents whose figures were derived when other settlements counted, or by a clock that was set back since. */
export async function markOtherFigures(
  db: Queryable,
  { settlementOverloads, now }: Pick<FigureOptions, 'settlementOverloads' | 'now'>,
): Promise<void> {
  await db.query({
    name: 'mark-other-figures',
    text: `
insert into due (kind, key)
select 'figures', fid::text from figure_derivation d where overloads <> $2 or ${isOfLater}`,
    values: [now, settlementOverloads === 'all'],
  })
}
