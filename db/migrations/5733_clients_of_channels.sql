-- Clients whose money others signed for, and files that name such a payment.
insert into due (kind, key)
select distinct 'raters', encode(c.client, 'hex')
  from payment_sum s
  join feedback_client c on c.client in (s.payer, s.funder)
 where s.funder <> '';
insert into due (kind, key)
select 'feedback files', f.feedback_id
  from feedback_file f
 where f.named is distinct from 'found'
   and exists (select from payment p where p.tx_hash = f.payment_tx and p.funder is not null);
