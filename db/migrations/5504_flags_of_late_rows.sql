-- Hours of what came and went through escrows behind the first row of its payment: that may have been stored after they were summed up.
insert into due (kind, key)
select distinct 'income hours',
       encode(p.payee, 'hex') || ':' || p.chain || ':' || floor(extract(epoch from p.block_timestamp) / 3600)::bigint
  from income_owner o
  join payment p on p.payer = o.address
  join income_address i on i.fid = o.fid and i.address = p.payee
 where p.kind in ('escrow_charge', 'escrow_capture', 'escrow_refund') and p.net <> 0;
