import type { Queryable } from '../../pool.ts'
import { hex } from '../sql/json-text.ts'
import { leadingFirst } from '../sql/verification-time.ts'

/** Who is known behind an address; one of the two may be null. */
export interface AddressName {
  readonly agent: { readonly fid: number; readonly handle: string | null } | null
  readonly facilitator: string | null
}

/** Agents that verify the addresses, and facilitators that send from them; addresses of nobody known are missing. */
export async function addressNames(
  db: Queryable,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, AddressName>> {
  const { rows } = await db.query<{ address: string } & AddressName>({
    name: 'address-names',
    text: `
select ${hex('one.address')} as address, behind.agent, s.name as facilitator
  from unnest($1::bytea[]) as one (address)
  left join lateral (
    select json_build_object('fid', a.fid, 'handle', a.handle) as agent
      from verified_address v
      join agent a using (fid)
     where v.address = one.address and v.ended_at is null
     order by ${leadingFirst}
     limit 1
  ) behind on true
  left join facilitator_sender s on s.address = one.address
 where behind.agent is not null or s.name is not null`,
    values: [addresses.map((address) => Buffer.from(address.slice(2), 'hex'))],
  })
  return new Map(rows.map(({ address, ...name }) => [address, name]))
}
