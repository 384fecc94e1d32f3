import type { Queryable } from '../../pool.ts'
import { derivedHoldings, holdingWrites } from './agent-holdings.ts'

// Agents to whose addresses very many registrations were transferred, which anybody can do. Their holdings are derived
// outside the join's lock, so that nobody waits for them; the agent's row is derived from their totals.

/** Transfers to the addresses of an agent that is derived with all others; more take longer than those may wait. */
const mostTransfers = 2_000

/** Notes that those of the FIDs that are large holders have to be derived again; returns them. Waits for nobody. */
export async function noteLargeHolders(db: Queryable, fids: readonly number[]): Promise<number[]> {
  const { rows } = await db.query<{ fid: number }>({
    name: 'note-large-holders',
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
noted as (insert into large_holder_event (fid) select fid from large)
select fid from large order by fid`,
    values: [fids, mostTransfers],
  })
  return rows.map(({ fid }) => fid)
}

/**
 * The large holder that has waited longest, of those not derived since `before`; undefined: none is due. It is nobody
 * else's until the transaction ends, which looks rows up as the join's do (`lockJoin`). `noted` is the last event that this derivation deals with.
 */
export async function takeLargeHolder(
  db: Queryable,
  before: Date,
): Promise<{ readonly fid: number; readonly noted: number } | undefined> {
  const { rows } = await db.query<{ fid: number; noted: number }>({
    name: 'take-large-holder',
    text: `
select l.fid, set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true),
       (select max(e.seq) from large_holder_event e where e.fid = l.fid) as noted
  from large_holder l
 where (l.derived_at is null or l.derived_at <= $1)
   and exists (select from large_holder_event e where e.fid = l.fid)
 order by l.derived_at nulls first, l.fid
 limit 1
   for update of l skip locked`,
    values: [before],
  })
  return rows[0]
}

/** Derives the holdings of a large holder, and stores their totals. */
export async function deriveLargeHolder(db: Queryable, fid: number, now: Date): Promise<void> {
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

/** Ends the events that a derivation has dealt with. */
export async function endLargeHolderEvents(db: Queryable, fid: number, noted: number): Promise<void> {
  await db.query({
    name: 'end-large-holder-events',
    text: 'delete from large_holder_event where fid = $1 and seq <= $2',
    values: [fid, noted],
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
