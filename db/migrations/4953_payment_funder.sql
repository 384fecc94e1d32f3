-- outside a transaction
drop index concurrently if exists payment_funder;
create index concurrently payment_funder on payment (funder) where funder is not null;
