-- Hours of refunds of an escrow's payment that has more than one: what came before them may have been counted short.
insert into due (kind, key)
select distinct 'income hours',
       encode(p.payee, 'hex') || ':' || p.chain || ':' || floor(extract(epoch from p.block_timestamp) / 3600)::bigint
  from (select subject, chain from payment where net < 0 group by subject, chain having count(*) > 1) often
  join payment p using (subject, chain)
 where p.kind = 'escrow_refund' and exists (select from income_address a where a.address = p.payee);
