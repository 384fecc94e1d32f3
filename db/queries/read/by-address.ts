import { profileLimits } from '../../../limits.config.ts'
import type { Queryable } from '../../pool.ts'
import { chainPosition, hex, isoTime } from '../sql/json-text.ts'

/**
 * JSON of `GET /api/by-address/:address`: the agent that verifies the address, or the registrations it holds without
 * one. Undefined: neither. `address` is lowercase with 0x.
 *
 * Of several agents that verify it: the claimed, then the newest verification, then the lowest fid.
 */
export async function addressSubject(db: Queryable, address: string): Promise<string | undefined> {
  const { rows } = await db.query<{ body: string }>({
    name: 'address-subject',
    text,
    values: [Buffer.from(address.slice(2), 'hex'), profileLimits.registrationsOfAddress],
  })
  return rows[0]?.body
}

const text = `
with agent_of_address as (
  select json_build_object(
           'kind', 'agent',
           'fid', a.fid,
           'handle', a.handle,
           'display_name', a.display_name,
           'claimed', a.claimed
         )::text as body
    from verified_address v
    join agent a using (fid)
   where v.address = $1 and v.ended_at is null
   order by a.claimed desc, v.verified_at desc, a.fid
   limit 1
),
token as (
  select chain, agent_id, registered_block, registered_at
    from registration
   where owner = $1 and not burned and not exists (select from agent_of_address)
   order by ${chainPosition('chain')}, agent_id
   limit $2
)
select body from agent_of_address
 union all
select json_build_object(
         'kind', 'address-only',
         'address', ${hex('$1::bytea')},
         'registrations', json_agg(json_build_object(
           'chain', chain,
           'erc8004_id', agent_id,
           'block_number', registered_block,
           'deployed_at', ${isoTime('registered_at')}
         ) order by ${chainPosition('chain')}, agent_id)
       )::text
  from token
having count(*) > 0`
