import type { Queryable } from '../../pool.ts'
import { lookUpByKey } from '../server/transaction-settings.ts'
import { derivedHoldings, holdingWrites } from './agent-holdings.ts'

// Agents to whose addresses very many registrations were transferred, which anybody can do. Their holdings are derived
// outside the join's lock, so that nobody waits for them; the agent's row is derived from their totals.

/** Transfers to the addresses of an agent that is derived with all others; more take longer than those may wait. */
const mostTransfers = 2_000

/** Shortest time between two derivations of a large holder's holdings. */
const rest = "interval '1 minute'"

/** Marks those of the FIDs that are large holders; returns them. Waits for nobody. */
export async function markLargeHolders(db: Queryable, fids: readonly number[]): Promise<number[]> {
  const { rows } = await db.query<{ fid: number }>({
    name: 'mark-large-holders',
    text: `
with large as (
  select s.fid
    from unnest($1::bigint[]) as s (fid)
   where exists (select from large_holder l where l.fid = s.fid)
      or $2 < (select count(*)
                 from (select from verified_address v
                        cross join lateral (
                          select from registration_transfer t where t."to" = v.address limit $2::bigint + 1
                        ) t
                        where v.fid = s.fid
                        limit $2::bigint + 1) transfer)
),
known as (insert into large_holder (fid) select fid from large on conflict do nothing),
marked as (
  insert into due (kind, key, due_at)
  select 'large holders', large.fid::text, coalesce(l.derived_at + ${rest}, '-infinity')
    from large left join large_holder l using (fid)
)
select fid from large order by fid`,
    values: [fids, mostTransfers],
  })
  return rows.map(({ fid }) => fid)
}

/** Those of the FIDs that are known as large holders. */
export async function largeHoldersOf(db: Queryable, fids: readonly number[]): Promise<number[]> {
  const { rows } = await db.query<{ fid: number }>({
    name: 'large-holders-of',
    text: 'select fid from large_holder where fid = any ($1::bigint[]) order by fid',
    values: [fids],
  })
  return rows.map(({ fid }) => fid)
}

/** Derives the holdings of a large holder, and stores their totals. Rows are looked up as by the join (`lockJoin`). */
export async function deriveLargeHolder(db: Queryable, fid: number, now: Date): Promise<void> {
  await lookUpByKey(db)
  await db.query({
    name: 'derive-large-holder',
    text: `
with${derivedHoldings},${holdingWrites}
update large_holder l
   set derived_at = $2,
       changed = l.changed or exists (select from lost) or exists (select from stored),
       held = s.fid is not null,
       current = coalesce(s.current, 0), historical = coalesce(s.historical, 0), chains = coalesce(s.chains, '{}'),
       registered_at = s.registered_at, registry_event_at = s.registry_event_at, listed_at = s.listed_at
  from unnest($1::bigint[]) as one (fid)
  left join summed s using (fid)
 where l.fid = one.fid`,
    values: [[fid], now],
  })
}

/** In place of `derivedHoldings` and `holdingWrites`: what was kept. That the holdings changed is told once. */
export const storedSums = `
summed as (
  select fid, current, historical, chains, registered_at, registry_event_at, listed_at
    from large_holder where fid = any ($1::bigint[]) and held
),
lost as (
  update large_holder set changed = false
   where fid in (select fid from large_holder where fid = any ($1::bigint[]) and changed for update skip locked)
  returning fid
),
stored as (select fid from lost)`
