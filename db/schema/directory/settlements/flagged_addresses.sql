create or replace view directory.flagged_addresses as
with paid as (
  select p.chain, o.address as payer, null::bytea as signer, p.recipient, case when o.address = p.recipient then 'self' else 'same_owner' end as flag,
         o.fid, coalesce(part.first_at, p.first_at) as since, coalesce(part.last_at, p.last_at) as last_at
    from public.income_owner o
   cross join lateral (
     select recipient, chain, first_at, last_at from public.settlement_payer where payer = o.address and length(chain) > 0
      union all
     select payee, chain, first_at, last_at from public.payment_sum where payer = o.address and length(chain) > 0 and public.has_paid(amount, fees, refunded)
     offset 0 -- each is looked up
   ) p
    join public.income_address i on i.fid = o.fid and i.address = p.recipient and i.chain in ('', p.chain)
   cross join lateral (
     select greatest(o.from_at, i.from_at) as from_at, p.first_at < greatest(o.from_at, i.from_at) or p.last_at >= i.to_at as is_part
   ) own
   -- Of a pair that also paid when one of both was not yet, or no more, the agent's: the payments in between, up to the last
   -- that is final. Whose own the payer of an escrow was goes by the first charge or capture of the payment.
    left join lateral (
     select min(r.block_timestamp) as first_at, max(r.block_timestamp) as last_at
       from (select s.payer, s.recipient, s.chain, s.block_timestamp, s.block_timestamp as judged_at from public.settlement s
              union all
             select s.payer, s.payee, s.chain, s.block_timestamp,
                    case when s.kind in ('escrow_charge', 'escrow_capture')
                         then coalesce((select one.at from public.first_charge(s.subject, s.chain) one), s.block_timestamp)
                         else s.block_timestamp end
               from public.payment s
              where s.net > 0) r
      where own.is_part and r.payer = o.address and r.recipient = p.recipient and r.chain = p.chain
        and r.block_timestamp >= own.from_at and r.block_timestamp < i.to_at and r.block_timestamp <= p.last_at
        and r.judged_at >= o.from_at
   ) part on true
   -- Who was named an operator was not asked: it is not listed for what an owner says of it.
   where o.because <> 'operator' and p.last_at >= own.from_at and p.first_at < i.to_at
     and (not own.is_part or part.first_at is not null)
   union all
  -- Channels that such an address filled, for which another key signed.
  select p.chain, o.address, p.payer, p.payee, case when o.address = p.payee then 'self' else 'same_owner' end, o.fid,
         p.block_timestamp, p.block_timestamp
    from public.income_owner o
    join public.payment p on p.funder = o.address
    join public.income_address i on i.fid = o.fid and i.address = p.payee and i.chain in ('', p.chain)
   where o.because <> 'operator' and p.block_timestamp >= greatest(o.from_at, i.from_at) and p.block_timestamp < i.to_at
     and p.net > 0
     and exists (select from public.chain_contract c
                  where c.chain = p.chain and c.address = '0x' || encode(p.token, 'hex') and c.from_block <= p.block_number)
     and not exists (select from public.settlement_unrolled u
                      where u.chain = p.chain and p.block_number between u.from_block and u.to_block)
   union all
  select p.chain, r.payer, null, r.recipient, 'ring', null, p.first_at, p.last_at
    from public.income_ring r
   cross join lateral (
     select chain, first_at, last_at, sum(amount) over () as amount, min(first_at) over () < max(last_at) over () as is_repeated
       from (select chain, first_at, last_at, amount from public.settlement_payer s where (s.recipient, s.payer) = (r.recipient, r.payer)
              union all
             select chain, first_at, last_at, amount - refunded from public.payment_sum s
               where (s.payee, s.payer) = (r.recipient, r.payer) and amount > refunded
             offset 0) s
   ) p
   -- Who is paid can send a cent back over a third address, unasked: nobody is listed for a round that costs nothing.
   where p.amount >= 10000000 and p.is_repeated
)
select chain, '0x' || encode(payer, 'hex') as address, flag, min(since) as since,
       jsonb_build_object(
         'paid', to_jsonb((array_agg(distinct '0x' || encode(recipient, 'hex')))[1:10]),
         'paid_count', count(distinct recipient),
         'signers', to_jsonb(coalesce((array_agg(distinct '0x' || encode(signer, 'hex')) filter (where signer is not null))[1:10], '{}')),
         'fids', to_jsonb(coalesce((array_agg(distinct fid) filter (where fid is not null))[1:10], '{}')),
         'last_at', to_char(max(last_at) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
       )::text as evidence
  from paid
 group by chain, payer, flag;

comment on view directory.flagged_addresses is e'@behavior -*\nAddresses whose payments to an agent are not counted as filtered income, by chain and flag. What a flag rests on are payments that anybody can look up: docs/rules.md has the rules. Final blocks only. To be used by anybody for anything, under CC0 1.0.';
comment on column directory.flagged_addresses.chain is 'Lowercase name of the chain.';
comment on column directory.flagged_addresses.address is 'Who paid, or filled a channel that paid.';
comment on column directory.flagged_addresses.flag is 'self: it paid itself; same_owner: it paid an agent that it is or was an address of; ring: its money goes round over three addresses or more, and it paid the agent''s address 10 dollars or more that way, more than once.';
comment on column directory.flagged_addresses.since is 'Time of the first such payment.';
comment on column directory.flagged_addresses.evidence is 'JSON object. paid: addresses it paid, at most ten; paid_count: how many there are; signers: of channels that it filled, who signed for it, at most ten; fids: agents whose address it is or was, at most ten, none of a ring; last_at: time of the newest payment.';
