import { readingLimits } from '../../../config/limits.ts'
import type { Queryable } from '../../pool.ts'
import { shownHandleAssurance } from '../sql/assurance.ts'
import { chainPosition, hex, isoTime, list } from '../sql/json-text.ts'
import { countsFrom, saidAt } from '../sql/verification-time.ts'

/** Registrations received by an address that are examined, the earliest ones. */
const mostReceived = readingLimits.receivedRegistrations

/** A moment, in milliseconds since 1970; null: the whole history, each entry with its beginning and end. */
export type Moment = number | null

export const held = (from: string, to: string) =>
  `($2::timestamptz is null or (${from} <= $2 and (${to} is null or ${to} > $2)))`

const span = (from: string, to: string) => `'from', ${isoTime(from)}, 'to', ${isoTime(to)}`

/**
 * Registrations by chain: what `member`, of address, begins and ends, held while it was one; `said` is when it began as
 * it is shown, null where that is not known. Null for a chain of which
 * nothing is known at the moment: before the first event of its registry, after its newest block, or not indexed at all.
 */
export const holdings = `
received as (
  select m.address, m.begins, m.said, m.ends, t.*
    from member m
   cross join lateral (
     select t.chain, t.agent_id, t.block_number, t.log_index, t.block_timestamp, t.tx_hash
       from registration_transfer t
      where t."to" = m.address and t."from" is distinct from t."to"
      order by t.block_timestamp, t.chain, t.block_number, t.log_index
      limit ${mostReceived} + 1
   ) t
),
tenure as (
  select r.chain, r.agent_id, r.address, r.block_timestamp as received_at, r.tx_hash as received_tx, greatest(r.block_timestamp, r.begins) as begins,
         case when r.block_timestamp >= r.begins or r.begins is null then r.block_timestamp else r.said end as said,
         least(n.block_timestamp, r.ends) as ends
    from received r
    left join lateral (
      select n.block_timestamp
        from registration_transfer n
       where n.chain = r.chain and n.agent_id = r.agent_id and n."from" is distinct from n."to"
         and (n.block_number, n.log_index) > (r.block_number, r.log_index)
       order by n.block_number, n.log_index
       limit 1
    ) n on true
),
holding as (
  select * from tenure where (ends is null or ends > begins) and ${held('begins', 'ends')}
),
known as (
  select chain.name as chain, state.indexed_at,
         state.indexed_at is not null and ($2::timestamptz is null or ($2 <= state.indexed_at and $2 >= (
           select t.block_timestamp from registration_transfer t
            where t.chain = chain.name order by t.block_timestamp limit 1))) as yes
    from unnest(chain_names()) as chain (name)
    left join chain_state state on state.chain = chain.name
)`

const knownThrough = `(
  select ${list(`json_build_object('chain', chain, 'block_timestamp', ${isoTime('indexed_at')})`, chainPosition('chain'))}
    from known where indexed_at is not null)`

const chains = `(
  select ${list(
    `json_build_object('chain', known.chain, 'registrations', case when known.yes then (
      select ${list(
        `json_build_object('erc8004_id', h.agent_id, 'held_by', ${hex('h.address')}, ${span('h.said', 'h.ends')})`,
        'h.agent_id, h.said, h.begins, h.address',
      )}
        from holding h where h.chain = known.chain) end)`,
    chainPosition('known.chain'),
  )}
    from known)`

export const truncated = `exists (select from received group by address, begins having count(*) > ${mostReceived})`

/** SQL: members of every answer: the moment, and the time through which all chains are known. */
export const common = `'as_of', ${isoTime('$2::timestamptz')}, 'known_through', ${knownThrough}`

/** JSON of `GET /api/agent/:fid/state`. Undefined: the fid is not in the index. */
export async function agentState(db: Queryable, fid: number, at: Moment): Promise<string | undefined> {
  const { rows } = await db.query<{ body: string }>({
    name: 'agent-state',
    text: `
with member as (
  select v.address, ${countsFrom('v')} as begins, ${saidAt('v')} as said, v.ended_at as ends from verified_address v where v.fid = $1
),${holdings}
select json_build_object(
         'fid', a.fid, ${common},
         'addresses', (select ${list(
           `json_build_object('address', ${hex('m.address')}, ${span('m.said', 'm.ends')})`,
           'm.address, m.said, m.begins',
         )} from member m where ${held('m.begins', 'm.ends')}),
         'chains', ${chains},
         'truncated', ${truncated})::text as body
  from agent a
 where a.fid = $1`,
    values: [fid, at === null ? null : new Date(at).toISOString()],
  })
  return rows[0]?.body
}

/**
 * JSON of `GET /api/by-address/:address/owners`: whose the address was, and what it held; accounts that left the directory
 * are not named. `address` is lowercase hex.
 */
export async function addressOwners(db: Queryable, address: string, at: Moment): Promise<string> {
  const { rows } = await db.query<{ body: string }>({
    name: 'address-owners',
    text: `
with member as (select $1::bytea as address, null::timestamptz as begins, null::timestamptz as said, null::timestamptz as ends),
verifier as (
  select v.fid, ${saidAt('v')} as said, v.ended_at from verified_address v
   where v.address = $1 and ${held(countsFrom('v'), 'v.ended_at')}
     and not exists (select from unlisted u where u.fid = v.fid)
   order by said, v.fid, v.ended_at
   limit ${readingLimits.verifiers}
),${holdings}
select json_build_object(
         'address', ${hex('$1::bytea')}, ${common},
         'owners', (select ${list(
           `json_build_object('fid', v.fid, 'handle', a.handle, 'handle_assurance', ${shownHandleAssurance('a')}, ${span('v.said', 'v.ended_at')})`,
           'v.said, v.fid, v.ended_at',
         )} from verifier v left join agent a using (fid)),
         'chains', ${chains},
         'truncated', ${truncated})::text as body`,
    values: [Buffer.from(address.slice(2), 'hex'), at === null ? null : new Date(at).toISOString()],
  })
  return rows[0]?.body ?? ''
}
