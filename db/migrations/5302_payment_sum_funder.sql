-- outside a transaction
-- Sums of an address that becomes an agent's own.
drop index concurrently if exists payment_sum_funder;
create index concurrently payment_sum_funder on payment_sum (funder) where funder <> '';
