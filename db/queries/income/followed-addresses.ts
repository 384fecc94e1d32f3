import { hasMoved } from '../../due/paid-hours.ts'
import type { Queryable } from '../../pool.ts'
import { isRolledUp, unrolledBlocks } from '../sql/block-states.ts'
import { markHours } from '../sql/income.ts'
import { operatorIntervals } from './operators.ts'
import { holdings, walletIntervals } from './wallets.ts'

/** Earlier holders of a registration that are examined, the latest ones. */
const mostHolders = 100

/**
 * Refreshes the followed addresses of these agents. Marks for summing the hours of every address added or removed, and of
 * every address that one of these passed money on to. Call under `holdRollup`. Returns how many addresses were added,
 * changed or removed.
 */
export async function followAddresses(db: Queryable, fids: readonly number[]): Promise<number> {
  const { rows } = await db.query<{ n: number }>({
    name: 'follow-income-addresses',
    text: `
with ${unrolledBlocks},
wanted as materialized (
  select fid, address, chain, from_at, max(to_at) as to_at
    from (
      select fid, unnest(verified_addresses) as address, '' as chain, '-infinity'::timestamptz as from_at,
             'infinity'::timestamptz as to_at
        from agent where fid = any ($1::bigint[])
       union all
      select fid, address, chain, from_at, to_at from (${walletIntervals}) wallet
    ) whose
   group by fid, address, chain, from_at
),
lost as (
  delete from income_address i
   where i.fid = any ($1::bigint[])
     and not exists (select from wanted w
                      where (w.fid, w.address, w.chain, w.from_at) = (i.fid, i.address, i.chain, i.from_at))
  returning i.address
),
added as (
  insert into income_address as i (fid, address, chain, from_at, to_at)
  select fid, address, chain, from_at, to_at from wanted order by fid, address, chain, from_at
      on conflict (fid, address, chain, from_at) do update set to_at = excluded.to_at where i.to_at <> excluded.to_at
  returning address
),
moved as (select address from lost union select address from added),
due as (${markHours(`
  select h.recipient, h.chain, h.hour from moved join settlement_hourly h on h.recipient = moved.address
   union all
  select p.payee, p.chain, date_trunc('hour', p.block_timestamp, 'UTC')
    from moved
    join payment p on p.payee = moved.address and ${hasMoved('p')}
   where ${isRolledUp('p')}
   union all
  select behind.payee, behind.chain, date_trunc('hour', behind.block_timestamp, 'UTC')
    from moved
    join payment p on p.forwarder = moved.address
    join payment behind on behind.chain = p.chain and behind.block_number = p.block_number
                       and behind.origin_log_index = p.origin_log_index and behind.depth >= p.depth
   where exists (select from income_address i where i.address = behind.payee) and ${isRolledUp('p')}`)}
)
select count(*)::int as n from moved`,
    values: [fids],
  })
  return rows[0]?.n ?? 0
}

/**
 * Refreshes the addresses that are or were the agents' own: every address ever verified for the account, wallets that its
 * registrations named, operators while they could act for it, and earlier holders of its registrations, except those that
 * strangers sent. Marks the hours in which an added or removed address paid the agent. Call under `holdRollup`, after
 * `followAddresses`.
 */
export async function followOwners(db: Queryable, fids: readonly number[]): Promise<void> {
  await db.query({
    name: 'follow-income-owners',
    text: `
with ${unrolledBlocks},
wanted as materialized (
  select fid, address, 'verified' as because, '-infinity'::timestamptz as from_at, 'infinity'::timestamptz as to_at
    from verified_address where fid = any ($1::bigint[])
   union
  select fid, address, 'wallet', from_at, max(to_at) from (${walletIntervals}) wallet group by fid, address, from_at
   union
  select fid, address, 'operator', from_at, max(to_at) from (${operatorIntervals}) named group by fid, address, from_at
   union all
  select a.fid, t."to", 'holder', min(t.block_timestamp), max(h.acquired_at)
    from agent a
   cross join lateral ${holdings} h
   cross join lateral (
     select t."to", t.block_timestamp from registration_transfer t
      where t.chain = h.chain and t.agent_id = h.agent_id and t."to" is not null
        and (t.block_number, t.log_index) < (h.acquired_block, h.acquired_log_index)
      order by t.block_number desc, t.log_index desc
      limit ${mostHolders}
   ) t
   where a.fid = any ($1::bigint[]) and not h.unsolicited
   group by a.fid, t."to"
),
lost as (
  delete from income_owner o
   where o.fid = any ($1::bigint[])
     and not exists (select from wanted w
                      where (w.fid, w.address, w.because, w.from_at) = (o.fid, o.address, o.because, o.from_at))
  returning o.fid, o.address
),
added as (
  insert into income_owner as o (fid, address, because, from_at, to_at)
  select fid, address, because, from_at, to_at from wanted order by fid, address, because, from_at
      on conflict (fid, address, because, from_at) do update set to_at = excluded.to_at where o.to_at <> excluded.to_at
  returning fid, address
),
moved as (select fid, address from lost union select fid, address from added)
${markHours(`
  select h.recipient, h.chain, h.hour
    from moved
    join income_address i on i.fid = moved.fid
    join settlement_payer p on p.recipient = i.address and p.payer = moved.address
    join settlement_hourly h on h.recipient = p.recipient and h.chain = p.chain and h.overload = p.overload
                            and h.hour >= date_trunc('hour', p.first_at, 'UTC') and h.hour <= p.last_at
   union all
  select p.payee, p.chain, date_trunc('hour', p.block_timestamp, 'UTC')
    from moved
    join income_address i on i.fid = moved.fid
    join lateral (select * from payment one where payer = moved.address and ${hasMoved('one')}
                   union all
                  select * from payment where funder = moved.address) p on p.payee = i.address
   where ${isRolledUp('p')}`)}`,
    values: [fids],
  })
}
