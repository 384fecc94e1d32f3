-- outside a transaction
drop index concurrently if exists payment_funded_by;
create index concurrently payment_funded_by on payment (funder, block_number desc) where funder is not null;
