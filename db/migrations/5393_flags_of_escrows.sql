-- Hours of what an agent's own addresses paid through escrows: a payment's rows have the flag of its first one.
insert into due (kind, key)
select distinct 'income hours',
       encode(p.payee, 'hex') || ':' || p.chain || ':' || floor(extract(epoch from p.block_timestamp) / 3600)::bigint
  from income_owner o
  join income_address i on i.fid = o.fid
  join payment p on p.payee = i.address and p.payer = o.address
 where p.kind in ('escrow_charge', 'escrow_capture', 'escrow_refund') and p.net <> 0;
