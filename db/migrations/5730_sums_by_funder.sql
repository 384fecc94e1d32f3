-- outside a transaction
drop index concurrently if exists payment_sum_funder_payee;
create index concurrently payment_sum_funder_payee on payment_sum (funder, payee, chain, payer) where funder <> '';
