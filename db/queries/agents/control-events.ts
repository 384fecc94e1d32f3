import { readingLimits } from '../../../config/limits.ts'
import type { Queryable } from '../../pool.ts'
import type { LaterKey } from '../due/queue.ts'
import { approvedFor, operatorsOf } from '../sql/registration-objects.ts'

/** Registrations of an agent that are looked at for who could change them, the first by chain and id. */
const mostRegistrations = 1_000

/** SQL: of the same addresses that were read, others command some; who was read for the first time was named before. */
const isCommandedOtherwise = `
         before.read_digest <> l.read_digest and substr(before.read_digest, 1, 32) = substr(l.read_digest, 1, 32)`

/** SQL: one digest of the distinct lines of a group. */
const digest = (line: string) =>
  `sha256(convert_to(coalesce(string_agg(distinct (${line}) collate "C", ' ' order by (${line}) collate "C"), ''), 'UTF8'))`

/** SQL: digests of who could change each of the agents $1 now; `read_digest` is null where not all was read. */
const looked = `
held as materialized (
  select a.fid, r.chain, r.agent_id, r.owner, h.place
    from agent a
   cross join lateral (select h.chain, h.agent_id, row_number() over (order by h.chain, h.agent_id) as place
                         from agent_holding h
                        where h.fid = a.fid and h.reason is null and not h.unsolicited
                        order by h.chain, h.agent_id
                        limit ${mostRegistrations}) h
    join registration r using (chain, agent_id)
   where a.fid = any ($1::bigint[])
),
-- An owner's operators act for all that it holds on a chain, so they are read once for all of it.
line as (
  select fid, 'owner:' || encode(owner, 'hex') as line from held
   union
  select r.fid, c.by || ':' || encode(c.address, 'hex') from held r cross join lateral ${approvedFor('r')} c
   union
  select r.fid, c.by || ':' || encode(c.address, 'hex')
    from (select distinct fid, chain, owner from held) r
   cross join lateral ${operatorsOf({ holder: 'r.owner', chain: 'r.chain', most: readingLimits.controlOperators })} c
),
actor as (select distinct fid, split_part(line, ':', 2) as address from line),
-- Who of them was read, and then who commands those that are contracts, once all registrations were read that are asked about.
commanded as (
  select r.fid,
         ${digest(`case when w.fid is not null then concat_ws(':', r.chain, w.address) end`)}
         || ${digest(`case when w.fid is not null and account ->> 'kind' <> 'key' then
                        concat_ws(':', w.address, account ->> 'delegate', account ->> 'owners', account ->> 'threshold',
                                  account ->> 'modules', account -> 'token' ->> 'holder') end`)} as digest
    from held r
    left join control_reading k using (chain, agent_id)
    left join json_array_elements(k.accounts) account on true
    left join actor w on w.fid = r.fid and w.address = substr(account ->> 'address', 3)
   where r.place <= ${readingLimits.controlRegistrations}
   group by r.fid
  having bool_and(k.chain is not null and (w.fid is null or account ->> 'kind' <> 'not_checked'))
),
looked as materialized (
  select a.fid, a.handle, a.agent_status, ${digest('l.line')} as digest,
         (select c.digest from commanded c where c.fid = a.fid) as read_digest
    from agent a
    left join line l using (fid)
   where a.fid = any ($1::bigint[])
   group by a.fid
)`

/**
 * Notes an event for each agent that can be changed by other addresses than at the last look, by the same in another way, or
 * through contracts with other owners. The first look only stores digests. Approvals can come and go all day, so an agent has
 * one event an hour; those that had one are returned with the time of the next look. Call under `lockJoin`, like everything
 * that appends events.
 */
export async function noteControl(
  db: Queryable,
  { fids, now }: { fids: readonly number[]; now: Date },
): Promise<LaterKey[]> {
  const { rows } = await db.query<LaterKey>({
    name: 'note-control',
    text: `
with ${looked},
found as materialized (
  select l.*, (before.digest <> l.digest or ${isCommandedOtherwise}) is true as moved,
         before.noted_at + interval '1 hour' as next_at
    from looked l left join agent_control before using (fid)
),
gone as (
  delete from agent_control c
   where c.fid = any ($1::bigint[]) and not exists (select from agent a where a.fid = c.fid)
),
kept as (
  insert into agent_control as c (fid, digest, read_digest, noted_at)
  select fid, digest, read_digest, case when moved then $2::timestamptz end
    from found
   where not moved or next_at is null or next_at <= $2
   order by fid
      on conflict (fid) do update
     set digest = excluded.digest, read_digest = coalesce(excluded.read_digest, c.read_digest),
         noted_at = coalesce(excluded.noted_at, c.noted_at)
   where c.digest <> excluded.digest or c.read_digest is distinct from coalesce(excluded.read_digest, c.read_digest)
),
noted as (
  insert into directory_event (fid, kind, handle, status)
  select fid, 'control', handle, agent_status
    from found
   where moved and (next_at is null or next_at <= $2)
   order by fid
)
select fid as key, next_at as "dueAt" from found where moved and next_at > $2 order by fid`,
    values: [fids, now],
  })
  return rows
}
