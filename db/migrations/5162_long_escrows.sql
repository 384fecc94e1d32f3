-- Hours of what an escrow's payment brought that has more rows than are counted one by one.
insert into due (kind, key)
select distinct 'income hours',
       encode(p.payee, 'hex') || ':' || p.chain || ':' || floor(extract(epoch from p.block_timestamp) / 3600)::bigint
  from (select subject, chain from payment where subject is not null group by subject, chain having count(*) > 100) long
  join payment p using (subject, chain)
 where p.kind in ('escrow_charge', 'escrow_capture', 'escrow_refund')
   and exists (select from income_address a where a.address = p.payee);
