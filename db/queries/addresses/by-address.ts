import type { Queryable } from '../../pool.ts'
import { chainPosition, isoTime, list } from '../sql/json-text.ts'
import { leadingFirst } from '../sql/verification-time.ts'

/** What an address is: the agent that verifies it, or the registrations that it holds without one. */
interface AddressSubject {
  /** JSON object of the agent; null: no agent verifies the address. */
  readonly agent: string | null
  /** How many registrations the address holds now; zero where an agent verifies it. */
  readonly total: number
  /** JSON array of a page of them. */
  readonly rows: string
  readonly count: number
  /** Place of the chain and id of the page's last row; null: it is the last page. */
  readonly next: string[] | null
}

/**
 * What an address is, with `limit` of its registrations at most, those behind `after`; undefined: neither an agent's nor a
 * holder of any. `address` is lowercase with 0x.
 */
export async function addressSubject(
  db: Queryable,
  { address, limit, after }: { address: string; limit: number; after: readonly string[] | undefined },
): Promise<AddressSubject | undefined> {
  const { rows } = await db.query<AddressSubject>({
    name: 'address-subject',
    text,
    values: [Buffer.from(address.slice(2), 'hex'), limit, after?.[0] ?? null, after?.[1] ?? null],
  })
  const [subject] = rows
  return subject?.agent === null && subject.total === 0 ? undefined : subject
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
   order by ${leadingFirst}
   limit 1
),
held as materialized (
  select chain, ${chainPosition('chain')} as place, agent_id, registered_block, registered_at
    from registration
   where owner = $1 and not burned and not exists (select from agent_of_address)
),
found as (
  select * from held
   where $3::bigint is null or (place, agent_id) > ($3::bigint, $4::numeric)
   order by place, agent_id
   limit $2::bigint + 1
),
page as (select * from found order by place, agent_id limit $2)
select (select body from agent_of_address) as agent,
       (select count(*)::float8 from held) as total,
       (select ${list(
         `json_build_object('chain', chain, 'erc8004_id', agent_id, 'block_number', registered_block,
                           'deployed_at', ${isoTime('registered_at')})`,
         'place, agent_id',
       )} from page)::text as rows,
       (select count(*)::int from page) as count,
       (select array[place::text, agent_id::text] from page
         where (select count(*) from found) > $2 order by place desc, agent_id desc limit 1) as next`
