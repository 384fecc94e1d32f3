-- Clients who were paid money that somebody had put in who was their own, and those who signed for it: what is known of their
-- first payers, and groups of these.
insert into due (kind, key)
select distinct 'raters', encode(c.client, 'hex')
  from payment_sum s
 cross join lateral (values (s.payee), (s.payer)) side (address)
  join feedback_client c on c.client = side.address
 where s.funder <> '';
insert into due (kind, key)
select distinct 'rater groups', 'shared_funder:' || encode(s.payer, 'hex')
  from payment_sum s
 where s.funder <> '' and exists (select from feedback_client c where c.funder = s.payer);
