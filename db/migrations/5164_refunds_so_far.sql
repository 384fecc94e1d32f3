-- What went back until now, while nothing is added to sums or taken off; and whom that makes a payer no more.
select from settlement_rollup order by chain for update;
insert into payment_sum as s (payee, payer, chain, first_at, last_at, amount, refunded)
select payee, payer, chain, 'infinity', '-infinity', 0, -sum(net)
  from payment p
 where p.net < 0 and is_summed(p)
 group by payee, payer, chain
 order by payee, payer, chain
    on conflict (payee, payer, chain) do update set refunded = excluded.refunded;
insert into due (kind, key)
select distinct 'raters', encode(side.address, 'hex')
  from payment_sum s
 cross join lateral (values (s.payee), (s.payer)) side (address)
 where s.refunded > 0 and exists (select from feedback_client c where c.client = side.address);
insert into due (kind, key)
select distinct 'rings', encode(r.address, 'hex') from payment_sum s join income_reach r on r.payer = s.payer where s.refunded > 0;
