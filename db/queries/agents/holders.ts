import type { Queryable } from '../../pool.ts'

// Who holds registrations: what of holders and of registrations changed leads to agents.

/**
 * Marks agents that have to do with addresses, lowercase hex without 0x: whoever verifies or verified one of them and has
 * to do with the index, and whoever gave a registration to it.
 */
export async function markAgentsOf(db: Queryable, addresses: readonly string[]): Promise<void> {
  await db.query({
    name: 'mark-agents-of',
    text: `
with met as materialized (select decode(key, 'hex') as address from unnest($1::text[]) as given (key))
insert into due (kind, key)
select 'agents', v.fid::text
  from met join verified_address v using (address)
 where exists (select from registration_transfer t where t."to" = v.address)
    or exists (select from agent a where a.fid = v.fid)
 union
select 'agents', h.fid::text from met join agent_holding h on h.transferred_to = met.address`,
    values: [addresses],
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
