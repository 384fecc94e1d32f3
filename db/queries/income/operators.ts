import { readingLimits } from '../../../config/limits.ts'
import { holdings } from './wallets.ts'

/** Approvals that are examined of those one holder gave for a registration, the latest ones. */
const mostApprovals = 100

/**
 * A statement: who could act for the FIDs $1, and when: operators that addresses that are verified now named, until they
 * were taken back, and addresses that were approved for a registration while such an address held it, until the next
 * approval or transfer.
 */
export const operatorIntervals = `
  select a.fid, o.operator as address, o.block_timestamp as from_at, coalesce(o.until, 'infinity') as to_at
    from agent a
   cross join unnest(a.verified_addresses) as owner (address)
   cross join lateral (
     select o.operator, o.approved, o.block_timestamp,
            lead(o.block_timestamp) over (partition by o.chain, o.operator order by o.block_number, o.log_index) as until
       from (select o.*
               from registration_operator o
              where o.owner = owner.address
              order by o.block_timestamp desc, o.chain, o.block_number desc, o.log_index desc
              limit ${readingLimits.operatorEvents}) o
   ) o
   where a.fid = any ($1::bigint[]) and o.approved and o.operator <> owner.address
     and o.block_timestamp < coalesce(o.until, 'infinity')
   union all
  select a.fid, p.approved, p.block_timestamp, coalesce(least(p.until, moved.at), 'infinity')
    from agent a
   cross join lateral ${holdings} h
   cross join lateral (
     select p.approved, p.block_number, p.log_index, p.block_timestamp,
            lead(p.block_timestamp) over (order by p.block_number, p.log_index) as until
       from (select p.*
               from registration_approval p
              where p.chain = h.chain and p.agent_id = h.agent_id and p.owner = h.held_by
                and (p.block_number, p.log_index) > (h.acquired_block, h.acquired_log_index)
              order by p.block_number desc, p.log_index desc
              limit ${mostApprovals}) p
   ) p
   cross join lateral (
     select min(t.block_timestamp) as at
       from registration_transfer t
      where t.chain = h.chain and t.agent_id = h.agent_id and (t.block_number, t.log_index) > (p.block_number, p.log_index)
   ) moved
   where a.fid = any ($1::bigint[]) and h.held_by = any (a.verified_addresses) and p.approved is not null
     and p.block_timestamp < coalesce(least(p.until, moved.at), 'infinity')`
