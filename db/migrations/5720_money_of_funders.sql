-- Clients who were paid with money that others had signed for, and the groups of those whose money it was, or who signed.
insert into due (kind, key)
select distinct 'raters', encode(c.client, 'hex')
  from payment_sum s
  join feedback_client c on c.client = s.payee
 where s.funder <> '';
insert into due (kind, key)
select distinct 'rater groups', 'shared_funder:' || encode(side.address, 'hex')
  from payment_sum s
 cross join lateral (values (s.payer), (s.funder)) side (address)
 where s.funder <> '' and exists (select from feedback_client c where c.funder = side.address);
