-- outside a transaction
drop index concurrently if exists payment_sum_by_funder;
create unique index concurrently payment_sum_by_funder on payment_sum (payee, payer, chain, funder);
