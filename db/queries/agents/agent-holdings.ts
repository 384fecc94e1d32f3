import { keyDigest, walletKey } from '../../registry-keys.ts'
import { countsFrom } from '../sql/verification-time.ts'

// Statements that work out what agents hold and held. The parameter $1 is the FIDs.

/**
 * Relations of the holdings of the FIDs and, in `summed`, of their totals for each FID.
 *
 * Rules: a holding counts when its address verifies or verified the FID, unless the verification had ended before the
 * registration came. It is current when the address has the registration and is verified now. A verification that ended
 * while the address had the registration ends the holding. A transfer to oneself does not. One is unsolicited when
 * somebody sent it who is not one of the FID's addresses, whichever of these has it since, and nothing was set in a later
 * block: what a registry sets while it hands a registration over, it sets in the same block. URIs are not kept one by one:
 * one that was set between two transfers is not seen. Of a registration that left the FID or was burned nothing tells what
 * was set before, so it counts as solicited; so does one to which something happens after its verification ended.
 * A holding of a contract wallet on another chain than its newest verification names is marked.
 *
 * `offset 0` and `limit 1` keep rows looked up one by one: while the tables fill for the first time the planner does not
 * know how large they are, and would read them whole for every batch of agents. Times are digested as numbers: their
 * text depends on the session's time zone.
 */
export const derivedHoldings = `
member as (
  select v.fid, v.address, bool_or(v.ended_at is null) as live, max(v.ended_at) as ended_at,
         (array_agg(v.verification_type order by v.verified_at desc))[1] as verification_type,
         (array_agg(v.verification_chain order by v.verified_at desc))[1] as verification_chain
    from verified_address v
   where v.fid = any ($1::bigint[])
   group by v.fid, v.address
),
held as (
  select m.fid, t.chain, t.agent_id, m.address as held_by, t."from" as came_from,
         t.block_number as acquired_block, t.log_index as acquired_log_index, t.block_timestamp as acquired_at,
         n.block_number, n.block_timestamp, n.tx_hash, n."to", m.ended_at,
         wallet_chain_of(m.verification_type, m.verification_chain, t.chain) as wallet_chain,
         not m.live and (n.block_number is null or n.block_timestamp > m.ended_at) as unverified
    from member m
   cross join lateral (
      select t.chain, t.agent_id, t."from", t.block_number, t.log_index, t.block_timestamp
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
  select h.fid, h.chain, h.agent_id, h.held_by, h.came_from, h.acquired_block, h.acquired_log_index, h.acquired_at,
         h.wallet_chain,
         case when not h.unverified then h.block_number end as released_block,
         case when h.unverified then h.ended_at else h.block_timestamp end as released_at,
         case when not h.unverified then h.tx_hash end as released_tx,
         case when not h.unverified then h."to" end as transferred_to,
         case when not h.unverified then (
           select v.fid from verified_address v
            where v.address = h."to" and v.ended_at is null
            order by exists (select from claim c where c.fid = v.fid and c.state <> 'ended') desc, v.verified_at desc, v.fid
            limit 1) end as to_fid,
         case when h.unverified then 'verification_removed'
              when h.block_number is null then null
              when h."to" is null then 'burn'
              else 'transfer' end as reason
    from held h
),
digested as (
  select d.*, r.registered_at, r.updated_at,
         o.came_from is not null and coalesce(r.updated_block <= d.acquired_block, true)
           and not exists (select from registration_metadata m
                            where m.chain = d.chain and m.agent_id = d.agent_id
                              and m.id <> concat_ws('-', m.chain, m.agent_id, '${keyDigest(walletKey)}')
                              and m.block_number > o.block_number)
           and not exists (select from registration_wallet w
                            where w.chain = d.chain and w.agent_id = d.agent_id and w.wallet is not null
                              and w.block_number > o.block_number) as unsolicited,
         case when d.reason is null then md5(row(
           r.agent_wallet, r.agent_uri, r.agent_uri_length, r.agent_uri_sha256, r.registered_block, r.registered_tx,
           extract(epoch from r.registered_at), extract(epoch from r.updated_at), r.updated_block,
           u.tried_uri_sha256, u.uri_status, u.name, u.description, u.image, u.active, u.x402_support, u.services::text,
           u.supported_trust::text || coalesce(nullif(u.truncated, '{}')::text, '')
             || coalesce((select string_agg(one ->> 'name' || ' ' || (one ->> 'status'), ',' order by place)
                            from control_reading k cross join json_array_elements(k.names) with ordinality said (one, place)
                           where k.chain = d.chain and k.agent_id = d.agent_id), ''),
           coalesce((select row(t.standing + t.revoked, t.revoked) from feedback_total t
                      where t.chain = d.chain and t.agent_id = d.agent_id), row(0::bigint, 0::bigint))
         )::text) else md5(row(r.registered_block, extract(epoch from r.registered_at))::text) end::uuid as token_digest
    from derived d
    left join lateral (
      -- How it came to the FID: what its addresses passed on to each other is no more theirs than before.
      select t."from" as came_from, t.block_number
        from registration_transfer t
       where d.released_block is null and d.came_from is not null and t.chain = d.chain and t.agent_id = d.agent_id
         and (t.block_number, t.log_index) <= (d.acquired_block, d.acquired_log_index)
         and (t."from" is null or not exists (select from verified_address v where v.fid = d.fid and v.address = t."from"))
       order by t.block_number desc, t.log_index desc
       limit 1
    ) o on true
    left join lateral (
      select * from registration r where r.chain = d.chain and r.agent_id = d.agent_id limit 1
    ) r on true
    left join lateral (
      select * from registration_document u where u.chain = d.chain and u.agent_id = d.agent_id limit 1
    ) u on true
),
summed as (
  select d.fid,
         count(*) filter (where d.reason is null) as current,
         count(*) filter (where d.reason is not null) as historical,
         coalesce(
           array_agg(distinct d.chain) filter (where d.reason is null), '{}') as chains,
         coalesce(
           min(coalesce(d.registered_at, d.acquired_at)) filter (where d.reason is null),
           min(coalesce(d.registered_at, d.acquired_at))) as registered_at,
         max(d.updated_at) filter (where d.reason is null) as registry_event_at,
         min((select min(greatest(d.acquired_at, ${countsFrom('v')})) from verified_address v
               where v.fid = d.fid and v.address = d.held_by
                 and (v.ended_at is null or v.ended_at > d.acquired_at))) as listed_at
    from digested d
   group by d.fid
)`

const holdingKey = 'fid, chain, agent_id, acquired_block, acquired_log_index'
const holdingColumns = `held_by, acquired_at, released_block, released_at, released_tx, transferred_to, to_fid, reason,
                token_digest, unsolicited, wallet_chain`

export const of = (table: string, columns: string) => columns.replaceAll(/\w+/g, (column) => `${table}.${column}`)

/** Brings `agent_holding` to the derived holdings; `lost` and `stored` have the FIDs of which something was written. */
export const holdingWrites = `
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
)`
