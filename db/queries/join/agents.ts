import type { Queryable } from '../../pool.ts'
import { enriched } from './agent-enriched.ts'

/** What deriving an agent again did to what readers see. */
export interface AgentChange {
  readonly fid: number
  readonly kind: 'listed' | 'changed' | 'delisted'
  /** Whether the claim status is another one than before. */
  readonly claimChanged: boolean
}

/**
 * Derives agents from verifications, transfers, claims, profiles and documents as they are, all from one snapshot: `agent`,
 * `agent_holding` and `agent_change` of each FID are brought to it whole. What has not changed is not written.
 *
 * Call under `lockJoin`. `chainOrder` is the chain table's. Returns the FIDs with a visible change.
 *
 * Rules: a holding counts when its address verifies or verified the FID, unless the verification had ended before the
 * token came. It is current when the address has the token and is verified now. A verification that ended while the
 * address had the token ends the holding. A transfer to oneself is none.
 *
 * `offset 0` and `limit 1` keep rows looked up one by one: while the tables fill for the first time the planner does not
 * know how large they are, and would read them whole for every batch of agents.
 */
export async function deriveAgents(
  db: Queryable,
  { fids, chainOrder, now }: { fids: readonly number[]; chainOrder: readonly string[]; now: Date },
): Promise<AgentChange[]> {
  const { rows } = await db.query<AgentChange>({ name: 'derive-agents', text, values: [fids, chainOrder, now] })
  return rows
}

const holdings = `
member as (
  select v.fid, v.address, bool_or(v.ended_at is null) as live, max(v.ended_at) as ended_at
    from verified_address v
   where v.fid = any ($1::bigint[])
   group by v.fid, v.address
),
held as (
  select m.fid, t.chain, t.agent_id, m.address as held_by,
         t.block_number as acquired_block, t.log_index as acquired_log_index, t.block_timestamp as acquired_at,
         n.block_number, n.block_timestamp, n.tx_hash, n."to", m.ended_at,
         not m.live and (n.block_number is null or n.block_timestamp > m.ended_at) as unverified
    from member m
   cross join lateral (
      select t.chain, t.agent_id, t.block_number, t.log_index, t.block_timestamp
        from registration_transfer t
       where t."to" = m.address and t."from" is distinct from t."to"
      offset 0
    ) t
    left join lateral (
      select n.block_number, n.block_timestamp, n.tx_hash, n."to"
        from registration_transfer n
       where n.chain = t.chain and n.agent_id = t.agent_id and n."from" is distinct from n."to"
         and (n.block_number, n.log_index) > (t.block_number, t.log_index)
       order by n.block_number, n.log_index
       limit 1
    ) n on true
   where m.live or m.ended_at > t.block_timestamp
),
derived as (
  select h.fid, h.chain, h.agent_id, h.held_by, h.acquired_block, h.acquired_log_index, h.acquired_at,
         case when not h.unverified then h.block_number end as released_block,
         case when h.unverified then h.ended_at else h.block_timestamp end as released_at,
         case when not h.unverified then h.tx_hash end as released_tx,
         case when not h.unverified then h."to" end as transferred_to,
         case when not h.unverified then (
           select v.fid from verified_address v
            where v.address = h."to" and v.ended_at is null
            order by exists (select from claim c where c.fid = v.fid) desc, v.verified_at desc, v.fid
            limit 1) end as to_fid,
         case when h.unverified then 'verification_removed'
              when h.block_number is null then null
              when h."to" is null then 'burn'
              else 'transfer' end as reason
    from held h
),`

/** Times as numbers: their text depends on the session's time zone. */
const digests = `
digested as (
  select d.*, r.registered_at, r.updated_at,
         case when d.reason is null then md5(row(
           r.agent_wallet, r.agent_uri, r.agent_uri_length, r.agent_uri_sha256, r.registered_block, r.registered_tx,
           extract(epoch from r.registered_at), extract(epoch from r.updated_at), r.updated_block,
           u.tried_uri_sha256, u.uri_status, u.name, u.description, u.image, u.active, u.x402_support, u.services::text,
           u.supported_trust::text,
           (select row(count(*), count(f.revoked_block)) from feedback f
             where f.chain = d.chain and f.agent_id = d.agent_id)
         )::text) else md5(row(r.registered_block, extract(epoch from r.registered_at))::text) end::uuid as token_digest
    from derived d
    left join lateral (
      select * from registration r where r.chain = d.chain and r.agent_id = d.agent_id limit 1
    ) r on true
    left join lateral (
      select * from registration_document u where u.chain = d.chain and u.agent_id = d.agent_id limit 1
    ) u on true
),`

const agents = `
summed as (
  select d.fid,
         count(*) filter (where d.reason is null) as current,
         coalesce(
           array_agg(distinct d.chain) filter (where d.reason is null), '{}') as chains,
         coalesce(
           min(coalesce(d.registered_at, d.acquired_at)) filter (where d.reason is null),
           min(coalesce(d.registered_at, d.acquired_at))) as registered_at,
         max(d.updated_at) filter (where d.reason is null) as registry_event_at,
         min((select min(greatest(d.acquired_at, v.verified_at)) from verified_address v
               where v.fid = d.fid and v.address = d.held_by
                 and (v.ended_at is null or v.ended_at > d.acquired_at))) as listed_at
    from digested d
   group by d.fid
),
wanted as (
  select s.fid, p.handle, p.display_name, p.bio, p.pfp_url,
         array(select name from unnest($2::text[]) with ordinality as chain (name, place)
                where name = any (h.chains) order by place) as chains,
         array(select v.address from verified_address v
                where v.fid = s.fid and v.ended_at is null order by v.address) as verified_addresses,
         c.claimed_at is not null as claimed, c.method as claim_method, c.claimed_at,
         case when h.current > 0 then 'active' when h.fid is not null then 'historical' else 'claimed-only' end
           as agent_status,
         coalesce(h.registered_at, c.claimed_at) as registered_at,
         coalesce(h.listed_at, c.claimed_at) as listed_at,
         h.registry_event_at, p.last_message_at,
         coalesce(k.spec_check_status, 'unchecked') as spec_check_status,
         coalesce(k.spec_check_status = 'found', false) as has_spec, d.spec_digest, d.last_alive_at,
         e.oli, e.has_codehost, e.enriched_digest,
         lower(concat_ws(E'\\n', p.handle, p.display_name, e.oli)) as search,
         a.fid is null as added, coalesce(a.claimed, false) <> (c.claimed_at is not null) as claim_changed,
         (a.last_message_at, a.last_alive_at) is distinct from (p.last_message_at, d.last_alive_at) as active,
         a.changed_at
    from unnest($1::bigint[]) as s (fid)
    left join summed h using (fid)
    left join social_profile p using (fid)
    left join agent_spec_check k using (fid)
    left join agent a using (fid)
   cross join lateral (
      select md5(string_agg(row(kind, url, title, version, skills, tools, path_count, content_sha256, domain_verified,
                                last_check_status)::text, ',' order by kind, url))::uuid as spec_digest,
             max(last_alive_at) as last_alive_at
        from agent_spec where agent_spec.fid = s.fid
   ) d
   cross join lateral (${enriched}) e
   cross join lateral (
      select min(claimed_at) as claimed_at, (array_agg(method order by claimed_at desc, method, nonce))[1] as method
        from claim where claim.fid = s.fid
   ) c
   where h.fid is not null or c.claimed_at is not null
),`

const holdingKey = 'fid, chain, agent_id, acquired_block, acquired_log_index'
const holdingColumns = `held_by, acquired_at, released_block, released_at, released_tx, transferred_to, to_fid, reason,
                token_digest`
const visibleColumns = `handle, display_name, bio, pfp_url, chains, verified_addresses, claimed, claim_method, claimed_at,
                agent_status, registered_at, listed_at, registry_event_at, search, spec_check_status, has_spec, spec_digest,
                oli, has_codehost, enriched_digest`

const of = (table: string, columns: string) => columns.replaceAll(/\w+/g, (column) => `${table}.${column}`)

const writes = `
lost as (
  delete from agent_holding h
   using (select ${holdingKey} from agent_holding where fid = any ($1::bigint[])
          except
          select ${holdingKey} from derived) g
   where (${of('h', holdingKey)}) = (${of('g', holdingKey)})
  returning h.fid
),
stored as (
  insert into agent_holding as h (${holdingKey}, ${holdingColumns})
  select ${holdingKey}, ${holdingColumns} from digested
      on conflict (${holdingKey}) do update
     set (${holdingColumns}) = row(${of('excluded', holdingColumns)})
   where (${of('h', holdingColumns)}) is distinct from (${of('excluded', holdingColumns)})
  returning h.fid
),
compared as (
  select w.*,
         w.added or (${of('w', visibleColumns)}) is distinct from (${of('a', visibleColumns)})
           or w.fid in (select fid from lost) or w.fid in (select fid from stored) as visible
    from wanted w
    left join agent a using (fid)
),
put as (
  insert into agent (fid, ${visibleColumns}, last_message_at, last_alive_at, changed_at)
  select fid, ${visibleColumns}, last_message_at, last_alive_at, case when visible then $3::timestamptz else changed_at end
    from compared
   where visible or active
      on conflict (fid) do update
     set (${visibleColumns}, last_message_at, last_alive_at, changed_at)
       = row(${of('excluded', `${visibleColumns}, last_message_at, last_alive_at, changed_at`)})
),
delisted as (
  delete from agent a
   where a.fid = any ($1::bigint[]) and not exists (select from wanted w where w.fid = a.fid)
  returning a.fid, a.claimed
),
change as (
  select fid, case when added then 'listed' else 'changed' end as kind, claim_changed from compared where visible
   union all
  select fid, 'delisted', claimed from delisted
),
logged as (
  insert into agent_change (fid, kind, changed_at)
  select fid, case kind when 'delisted' then 'delist' else 'upsert' end, $3 from change order by fid
)
select fid, kind, claim_changed as "claimChanged" from change order by fid`

const text = `with${holdings}${digests}${agents}${writes}`
