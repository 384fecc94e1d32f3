import { lockKeys } from '../../lock-keys.ts'
import type { Queryable } from '../../pool.ts'
import type { RegistrationKey } from '../sources/registration-documents.ts'

/**
 * Makes the join the work of one transaction at a time: what is routed has been derived or will be, and `agent_change`
 * grows in the order of commits.
 *
 * Its statements look a few rows up by key. While tables fill for the first time, the planner does not know that they
 * are large, and would read them whole; so the transaction is told not to.
 */
export async function lockJoin(db: Queryable): Promise<void> {
  await db.query({
    name: 'lock-join',
    text: `select pg_advisory_xact_lock($1), set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)`,
    values: [lockKeys.join],
  })
}

/**
 * Whether anything waits to be joined: events of addresses, of registrations, of agents; each counted up to a thousand.
 */
export async function countEvents(db: Queryable): Promise<{ holders: number; tokens: number; agents: number }> {
  const { rows } = await db.query<{ holders: number; tokens: number; agents: number }>({
    name: 'count-events',
    text: `
select (select count(*) from (select from holder_event limit 1000) as waiting) as holders,
       (select count(*) from (select from token_event limit 1000) as waiting) as tokens,
       (select count(*) from (select from agent_event limit 1000) as waiting) as agents`,
  })
  return rows[0] as { holders: number; tokens: number; agents: number }
}

/**
 * Consumes events of addresses: whoever verifies or verified one of them and has to do with the index, and whoever gave
 * a registration to it, is derived again. Returns the addresses, lowercase hex.
 */
export async function routeHolders(db: Queryable, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ address: string }>({
    name: 'route-holders',
    text: `
with taken as (
  delete from holder_event
   where seq in (select seq from holder_event order by seq limit $1 for update skip locked)
  returning address),
met as (select distinct address from taken),
routed as (
  insert into agent_event (fid)
  select v.fid
    from met join verified_address v using (address)
   where exists (select from registration_transfer t where t."to" = v.address)
      or exists (select from agent a where a.fid = v.fid)
   union
  select h.fid from met join agent_holding h on h.transferred_to = met.address)
select '0x' || encode(address, 'hex') as address from met order by address`,
    values: [limit],
  })
  return rows.map(({ address }) => address)
}

/**
 * Consumes events of registrations: their holders in the index and their edges are derived again. Returns the
 * registrations.
 */
export async function routeRegistrations(db: Queryable, limit: number): Promise<RegistrationKey[]> {
  const { rows } = await db.query<RegistrationKey>({
    name: 'route-registrations',
    text: `
with taken as (
  delete from token_event
   where seq in (select seq from token_event order by seq limit $1 for update skip locked)
  returning chain, agent_id),
met as (select distinct chain, agent_id from taken),
concerned as (select distinct h.fid from met join agent_holding h using (chain, agent_id)),
linked as (insert into due (kind, key) select 'neighbours', fid::text from concerned),
routed as (insert into agent_event (fid) select fid from concerned)
select chain, agent_id::text as "agentId" from met order by chain, agent_id`,
    values: [limit],
  })
  return rows
}

/** Consumes all events of the agents that have waited longest. Returns their FIDs, each once. */
export async function takeAgents(db: Queryable, limit: number): Promise<number[]> {
  const { rows } = await db.query<{ fid: number }>({
    name: 'take-agents',
    text: `
with first as (select fid from agent_event order by seq limit $1),
taken as (delete from agent_event where fid in (select fid from first) returning fid)
select distinct fid from taken order by fid`,
    values: [limit],
  })
  return rows.map(({ fid }) => fid)
}

/** Moves the events of the agent that has waited longest behind all others. Returns its FID; undefined: nobody waits. */
export async function deferFirstAgent(db: Queryable): Promise<number | undefined> {
  const { rows } = await db.query<{ fid: number }>({
    name: 'defer-first-agent',
    text: `
with first as (select fid from agent_event order by seq limit 1),
taken as (delete from agent_event where fid in (select fid from first) returning fid)
insert into agent_event (fid) select distinct fid from taken returning fid`,
  })
  return rows[0]?.fid
}

/** Events for every address of these agents: who else meets one of them may have to name another agent now. */
export async function noteAddressesOf(db: Queryable, fids: readonly number[]): Promise<void> {
  await db.query({
    name: 'note-addresses-of',
    text: `insert into holder_event (address)
           select distinct address from verified_address where fid = any ($1::bigint[])`,
    values: [fids],
  })
}

/** The addresses of a list that have been given a registration and that nobody is known to verify; lowercase hex. */
export async function unknownHolders(db: Queryable, addresses: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ address: string }>({
    name: 'unknown-holders',
    text: `
select '0x' || encode(h.address, 'hex') as address
  from unnest($1::bytea[]) as h (address)
 where exists (select from registration_transfer t where t."to" = h.address)
   and not exists (select from verified_address v where v.address = h.address and v.ended_at is null)
 order by h.address`,
    values: [addresses.map((address) => Buffer.from(address.slice(2), 'hex'))],
  })
  return rows.map(({ address }) => address)
}

/** Notes events for all holders that a source was never asked about: it was off when they came. */
export async function noteHoldersUnknownTo(db: Queryable, source: string): Promise<void> {
  await db.query({
    name: 'note-holders-unknown-to',
    text: `
insert into holder_event (address)
select distinct t."to"
  from registration_transfer t
 where t."to" is not null
   and not exists (select from source_state s
                    where s.source = $1 and s.subject = 'address:0x' || encode(t."to", 'hex'))`,
    values: [source],
  })
}
