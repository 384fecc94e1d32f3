-- Sums of payments of which something went back: their fees are counted by the enrichment job. Others' are once something does.
insert into due (kind, key)
select 'escrow fees', encode(payee, 'hex') || ':' || encode(payer, 'hex') || ':' || chain || ':' || encode(funder, 'hex')
  from payment_sum
 where refunded > 0;
