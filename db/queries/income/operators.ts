import { operatorsNamed } from '../sql/registration-objects.ts'
import { holdings } from './wallets.ts'

/** Approvals that are examined of those one holder gave for a registration, the latest ones. */
const mostApprovals = 100
/**
 * Words of an owner on one operator that are told apart, the latest ones. From the first word to these it was one, all the time:
 * nobody else names it, and whoever names and takes back often hides nothing so.
 */
const mostWords = 100

const newestFirst = 'o.block_timestamp desc, o.block_number desc, o.log_index desc'

/**
 * A statement: who could act for the FIDs $1, and when: operators that addresses that are verified now named, until they
 * were taken back, and addresses that were approved for a registration while such an address held it, until the next
 * approval or transfer.
 */
export const operatorIntervals = `
  select a.fid, named.operator as address, said.from_at, said.to_at
    from agent a
   cross join unnest(a.verified_addresses) as owner (address)
   cross join chain_state c
   cross join lateral ${operatorsNamed({ holder: 'owner.address', chain: 'c.chain' })} named
   cross join lateral (
     select o.approved or o.nth > ${mostWords} as approved,
            case when o.nth > ${mostWords} then (
              select min(o.block_timestamp) from registration_operator o
               where o.owner = owner.address and o.chain = c.chain and o.operator = named.operator)
            else o.block_timestamp end as from_at,
            coalesce(lag(o.block_timestamp) over (order by o.nth), 'infinity') as to_at
       from (select o.approved, o.block_timestamp, row_number() over (order by ${newestFirst}) as nth
               from registration_operator o
              where o.owner = owner.address and o.chain = c.chain and o.operator = named.operator
              order by ${newestFirst}
              limit ${mostWords + 1}) o
   ) said
   where a.fid = any ($1::bigint[]) and named.operator <> owner.address and said.approved and said.from_at < said.to_at
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
