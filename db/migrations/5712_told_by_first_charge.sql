-- Hours of payments by who became an agent's own, or was for a time: some have the flag of the time of authorization.
insert into due (kind, key)
select distinct 'income hours',
       encode(p.payee, 'hex') || ':' || p.chain || ':' || floor(extract(epoch from p.block_timestamp) / 3600)::bigint
  from income_owner o
  join income_address i on i.fid = o.fid
  join payment p on p.payer = o.address and p.payee = i.address and p.net <> 0
 where o.from_at > '-infinity' and p.kind in ('escrow_charge', 'escrow_capture', 'escrow_refund');

-- The demand of the agents whose payers these may be.
insert into due (kind, key) select distinct 'demand', o.fid::text from income_owner o where o.from_at > '-infinity';
