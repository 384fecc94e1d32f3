import type { Queryable } from '../../pool.ts'

// Who holds registrations: what of holders and of registrations changed leads to agents.

/** Agents of an address that are marked at once. */
const slice = 200

/**
 * Marks agents that have to do with addresses, keys of the kind `holders`: lowercase hex without 0x, or behind the account at
 * which the last slice ended, `<address>:<fid>`. These are who verifies or verified one of them and has to do with the index,
 * and who gave a registration to it. Anybody may verify what somebody else does: an address of very many accounts keeps
 * nobody waiting, the next slice comes behind what is due already.
 */
export async function markAgentsOf(db: Queryable, keys: readonly string[]): Promise<void> {
  await db.query({
    name: 'mark-agents-of',
    text: `
with met as materialized (
  select decode(split_part(key, ':', 1), 'hex') as address, coalesce(nullif(split_part(key, ':', 2), '')::bigint, -1) as after
    from unnest($1::text[]) as given (key)
),
found as materialized (
  select met.address, own.*
    from met
   cross join lateral (
     select fid, bool_or(gave) as gave, row_number() over (order by fid) as nth
       from ((select distinct v.fid, false as gave from verified_address v
               where v.address = met.address and v.fid > met.after order by v.fid limit ${slice})
              union all
             -- One look into the index for each account: one may have given very many registrations.
             (with recursive giver as (
                (select h.fid, 1 as nth from agent_holding h
                  where h.transferred_to = met.address and h.fid > met.after order by h.fid limit 1)
                 union all
                select next.fid, giver.nth + 1
                  from giver
                 cross join lateral (select h.fid from agent_holding h
                                      where h.transferred_to = met.address and h.fid > giver.fid order by h.fid limit 1) next
                 where giver.nth < ${slice})
              select fid, true from giver)) one
      group by fid
      order by fid
      limit ${slice}) own
)
insert into due (kind, key)
select distinct 'agents', f.fid::text
  from found f
 where f.gave
    or exists (select from registration_transfer t where t."to" = f.address)
    or exists (select from agent a where a.fid = f.fid)
 union all
select 'holders', encode(address, 'hex') || ':' || fid from found where nth = ${slice}`,
    values: [keys],
  })
}

/** Marks whoever holds or held registrations, which are given as keys, as due for some kinds of derivation. */
export async function markHoldersOf(
  db: Queryable,
  registrations: readonly string[],
  kinds: readonly string[],
): Promise<void> {
  await db.query({
    name: 'mark-holders-of',
    text: `
insert into due (kind, key)
select distinct kind, h.fid::text
  from unnest($1::text[]) as r (key)
  join agent_holding h on h.chain = split_part(r.key, ':', 1) and h.agent_id = split_part(r.key, ':', 2)::numeric
 cross join unnest($2::text[]) as kind`,
    values: [registrations, kinds],
  })
}

/** Marks every address of these agents: who else meets one of them may have to name another agent now. */
export async function markAddressesOf(db: Queryable, fids: readonly number[]): Promise<void> {
  await db.query({
    name: 'mark-addresses-of',
    text: `insert into due (kind, key)
           select distinct 'holders', encode(address, 'hex') from verified_address where fid = any ($1::bigint[])`,
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

/** Marks all holders that a source was never asked about: it was off when they came. */
export async function markHoldersUnknownTo(db: Queryable, source: string): Promise<void> {
  await db.query({
    name: 'mark-holders-unknown-to',
    text: `
insert into due (kind, key)
select distinct 'holders', encode(t."to", 'hex')
  from registration_transfer t
 where t."to" is not null
   and not exists (select from source_state s
                    where s.source = $1 and s.subject = 'address:0x' || encode(t."to", 'hex'))`,
    values: [source],
  })
}
