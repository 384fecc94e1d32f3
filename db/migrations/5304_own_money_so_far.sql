-- What others than the payer had put into channels, in sums of its own, while nothing is added to sums or taken off.
select from settlement_rollup order by chain for update;
delete from payment_sum s
 using (select distinct payee, payer, chain from payment where funder is not null) p
 where (s.payee, s.payer, s.chain) = (p.payee, p.payer, p.chain);
insert into payment_sum (payee, payer, chain, first_at, last_at, amount, refunded, funder)
select payee, payer, chain, coalesce(min(p.block_timestamp) filter (where p.net > 0), 'infinity'),
       coalesce(max(p.block_timestamp) filter (where p.net > 0), '-infinity'), coalesce(sum(p.net) filter (where p.net > 0), 0),
       coalesce(-sum(p.net) filter (where p.net < 0), 0), coalesce(p.funder, '')
  from (select distinct payee, payer, chain from payment where funder is not null) funded
  join payment p using (payee, payer, chain)
 where p.net <> 0 and is_summed(p)
 group by payee, payer, chain, coalesce(p.funder, '');
-- Whom that makes a payer no more, and payments that files name: each of a transaction is kept.
insert into due (kind, key)
select 'raters', encode(payer, 'hex')
  from (select distinct payer from payment_sum where funder <> '') s
 where exists (select from feedback_client c where c.client = s.payer);
insert into due (kind, key) select 'feedback files', feedback_id from feedback_file where named = 'found';
