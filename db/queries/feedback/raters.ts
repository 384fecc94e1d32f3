import { incomeLimits } from '../../../config/limits.ts'
import type { Queryable } from '../../pool.ts'
import { isPaid } from '../sql/feedback.ts'

// What is known of those who gave feedback: the tables feedback_client and feedback_edge.

/** Feedback of one client that is read, the oldest. A client with more is never idle, and has no edges. */
const mostFeedback = 1_000
/** Registrations that an idle client, or one with edges, rated at most. */
const mostRegistrations = 20
/** Sums by payer of a client that are read. One with more has a business, and no funder. */
const mostPayers = 1_000
/** Sums of what a client paid that are read, and of what it paid one address. One with more of the first paid somebody. */
const mostSums = 1_000
/** Rows of verified addresses that are read of the accounts behind a registration. */
const mostOfAccount = 50
/** Highest generation; beyond it a chain of funders is only long. */
const highestGeneration = 6

/** Base units that a client paid for a rating at least, or was first paid, on one chain: less is dust, which costs nothing. */
const leastPaid = incomeLimits.dustBelow

const paid = (payer: string, address: string) => `(
       not exists (select from income_ring ring where ring.recipient = ${address} and ring.payer = ${payer})
       and (exists (select from settlement_payer p where p.recipient = ${address} and p.payer = ${payer} and p.amount >= ${leastPaid})
       or exists (select
                    from ((select * from payment_sum p where p.payee = ${address} and p.payer = ${payer}
                            order by p.chain, p.funder limit ${mostSums})
                           union all
                          (select * from payment_sum p
                            where p.payee = ${address} and p.funder = ${payer} and p.funder <> ''
                            order by p.chain, p.payer limit ${mostSums})) p
                   where ${isPaid('p', leastPaid)}
                     and not exists (select from income_ring ring where ring.recipient = p.payee and ring.payer = p.payer))))`

/** SQL: whether an address was not given up by its account before the feedback `r`. */
const isHeldThen = (verified: string) => `(${verified}.ended_at is null or ${verified}.ended_at > r.block_timestamp)`

const values = ['seen_at', 'is_idle', 'registrations', 'funder', 'funded_at', 'generation']
const columns = (row: string) => values.map((name) => `${row}.${name}`).join(', ')

const text = `
with given as materialized (select decode(key, 'hex') as client from unnest($1::text[]) key),
rating as materialized (
  select g.client, f.chain, f.agent_id, f.block_number, f.log_index, f.block_timestamp
    from given g
   cross join lateral (
     select f.*
       from feedback f
      where f.client = g.client
      order by f.block_timestamp, f.chain, f.block_number, f.log_index
      limit ${mostFeedback + 1}
   ) f
),
-- The first feedback on each registration.
rated as materialized (
  select r.*, row_number() over (partition by client order by block_timestamp, chain, block_number, log_index) as place
    from (select distinct on (client, chain, agent_id) *, count(*) over (partition by client) as feedback
            from rating
           order by client, chain, agent_id, block_timestamp, block_number, log_index) r
),
known as materialized (
  select client, min(block_timestamp) as rated_at, max(feedback) <= ${mostFeedback} and count(*) <= ${mostRegistrations} as is_few,
         array_agg(chain || ':' || agent_id order by place) filter (where place <= ${mostRegistrations}) as registrations
    from rated
   group by client
),
first_paid as materialized (
  select k.*, one.payers <= ${mostPayers} as is_told, one.at, one.payer,
         exists (select
                   from (select *, row_number() over () as place
                           from settlement_payer p where p.payer = k.client and length(p.chain) > 0 limit ${mostSums + 1}) p
                  where p.place > ${mostSums} or p.recipient <> k.client and p.amount >= ${leastPaid})
           or (select count(*) > ${mostSums} or coalesce(bool_or(p.payee <> k.client and ${isPaid('p', leastPaid)}), false)
                 from (select * from payment_sum p where p.payer = k.client and length(p.chain) > 0
                        union all
                       select * from payment_sum p where p.funder = k.client and p.funder <> ''
                        limit ${mostSums + 1}) p) as has_paid
    from known k
   cross join lateral (
     select count(*) as payers, min(at) filter (where is_paid and payer <> k.client) as at,
            (array_agg(payer order by at, payer) filter (where is_paid and payer <> k.client))[1] as payer
       from ((select payer, first_paid_at as at, amount >= ${leastPaid} as is_paid
                from settlement_payer
               where recipient = k.client
               limit ${mostPayers + 1})
              union all
             select coalesce(nullif(p.funder, ''), p.payer), p.first_at, ${isPaid('p', leastPaid)}
               from (select * from payment_sum p where p.payee = k.client limit ${mostPayers + 1}) p) sums
   ) one
),
client as materialized (
  select client, registrations, is_few, is_few and is_told and not has_paid as is_idle,
         case when is_told then least(rated_at, at) else rated_at end as seen_at,
         case when is_told and at <= rated_at then payer end as funder,
         case when is_told and at <= rated_at then at end as funded_at
    from first_paid
),
wanted as materialized (
  select c.*, least(${highestGeneration}, 1 + coalesce(f.generation, 0)) as generation
    from client c
    -- Who was paid first comes first: nobody is the own ancestor.
    left join feedback_client f
      on f.client = c.funder and f.registrations && c.registrations and coalesce(f.funded_at, '-infinity') < c.funded_at
),
gone as (
  delete from feedback_client c using given g where c.client = g.client and not exists (select from wanted w where w.client = g.client)
),
stored as (
  insert into feedback_client as c (client, ${values.join(', ')})
  select w.client, ${columns('w')} from wanted w order by w.client
      on conflict (client) do update set (${values.join(', ')}) = row(${columns('excluded')})
   where (${columns('c')}) is distinct from (${columns('excluded')})
),
edge as materialized (
  select r.client, r.chain || ':' || r.agent_id as registration, one.address,
         bool_or(${paid('r.client', 'one.address')}) over (partition by r.client, r.chain, r.agent_id) as is_paid
    from rated r
    join wanted w on w.client = r.client and w.is_few
   cross join lateral (
     with named as (
       -- Anybody may send a registration to whom it does not ask, and rate it: so a holder has minted it, or named its wallet.
       (select t."to" as address
          from (select t.*
                  from registration_transfer t
                 where t.chain = r.chain and t.agent_id = r.agent_id
                   and (t.block_number, t.log_index) < (r.block_number, r.log_index)
                 order by t.block_number desc, t.log_index desc
                 limit 1) t
         where t."from" is null
            or exists (select from registration_wallet w
                        where w.chain = r.chain and w.agent_id = r.agent_id and w.wallet is not null
                          and w.block_number > t.block_number
                          and (w.block_number, w.log_index) < (r.block_number, r.log_index)))
        union
       (select w.wallet
          from registration_wallet w
         where w.chain = r.chain and w.agent_id = r.agent_id and (w.block_number, w.log_index) < (r.block_number, r.log_index)
         order by w.block_number desc, w.log_index desc
         limit 1))
     select address from named
      union
     -- Who rates for the account that has one of these verified is rated with it.
     (select o.address
        from named
        join verified_address v on v.address = named.address and ${isHeldThen('v')}
        join verified_address o on o.fid = v.fid and ${isHeldThen('o')}
        join feedback_client c on c.client = o.address
       order by o.address
       limit ${mostOfAccount})
   ) one
   where one.address <> r.client
),
unedged as (
  delete from feedback_edge e
   using given g
   where e.client = g.client
     and not exists (select from edge w where (w.client, w.registration, w.address) = (e.client, e.registration, e.address))
)
insert into feedback_edge as e (client, registration, address, is_paid)
select client, registration, address, is_paid from edge order by client, registration, address
    on conflict (client, registration, address) do update set is_paid = excluded.is_paid
 where e.is_paid <> excluded.is_paid`

/**
 * Makes what is stored of some clients, lowercase hex without 0x, what the facts say; of one without feedback, nothing. Call it
 * under `holdRollup`.
 */
export async function deriveRatersOf(db: Queryable, clients: readonly string[]): Promise<void> {
  await db.query({ name: 'derive-raters', text, values: [clients] })
}
