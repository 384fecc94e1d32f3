-- outside a transaction
create index concurrently payment_sum_by_payer on payment_sum (payer) where length(chain) > 0;
drop index concurrently if exists payment_sum_payer;
