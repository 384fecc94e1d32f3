-- The address of a contract wallet may be somebody else's on another chain than the one its verification names. What it
-- holds and receives there counts, and is marked. Chain ids come with the chain table, at the end of migrating.
do $$
begin
  if to_regproc('public.chain_id_of') is null then
    create function public.chain_id_of(text) returns bigint language sql immutable parallel safe as 'select null::bigint';
  end if;
end $$;
create function wallet_chain_of(verification_type smallint, verification_chain int, chain text) returns text
  language sql immutable parallel safe
  as $$ select case when $1 = 1 and $2 <> public.chain_id_of($3) then 'other' end $$;

alter table agent_holding add column wallet_chain text; -- other: of another chain than the holder's contract wallet

create or replace view directory.holdings as
select fid, chain, agent_id as erc8004_id, '0x' || encode(held_by, 'hex') as held_by,
       acquired_block, acquired_log_index, acquired_at, released_block, released_at,
       '0x' || encode(released_tx, 'hex') as released_tx, '0x' || encode(transferred_to, 'hex') as transferred_to,
       case when not exists (select from public.unlisted u where u.fid = h.to_fid) then to_fid end as to_fid, reason,
       wallet_chain
  from public.agent_holding h
 where not exists (select from public.unlisted u where u.fid = h.fid);
comment on column directory.holdings.wallet_chain is 'other: the holder is a contract wallet, and the registration is on another chain than its verification names; null: it is not.';

create or replace view directory.addresses as
select fid, '0x' || encode(address, 'hex') as address, verified_at, ended_at, address as address_bytes, verdict,
       verification_type::int as verification_type, verification_chain as verification_chain_id,
       '0x' || encode(message_hash, 'hex') as message_hash,
       (select h.wallet_chain from public.agent_holding h
         where h.fid = v.fid and h.held_by = v.address and h.wallet_chain is not null and h.reason is null
           and v.ended_at is null
         limit 1) as wallet_chain
  from public.verified_address v
 where not exists (select from public.unlisted u where u.fid = v.fid);
comment on column directory.addresses.wallet_chain is 'other: it is a contract wallet, and holds registrations on other chains than its verification names; null: it does not.';

create or replace view directory.income as
select i.fid, i.hour, i.chain, '0x' || encode(i.recipient, 'hex') as recipient_address, i.kind, i.flag,
       i.flag = 'none' as filtered, i.x402, i.n as payments, i.amount * 0.000001 as amount_usdc,
       i.dust_n as dust_payments, i.first_at as first_paid_at, i.last_at as last_paid_at,
       i.passed_on, i.other_n as other_token_payments,
       (select public.wallet_chain_of(v.verification_type, v.verification_chain, i.chain)
          from public.verified_address v
         where v.fid = i.fid and v.address = i.recipient and v.ended_at is null) as wallet_chain
  from public.income_hour i
 where exists (select from public.agent a where a.fid = i.fid);
comment on column directory.income.wallet_chain is 'other: the recipient is a contract wallet, and was paid on another chain than its verification names; null: it was not.';

-- The holdings of contract wallets are derived once more.
insert into agent_event (fid)
select distinct fid from verified_address where verification_type = 1;
