-- outside a transaction
-- Without what a contract holds.
drop index concurrently if exists payment_paid_by;
create index concurrently payment_paid_by on payment (payer, block_number desc) where net <> 0;
drop index concurrently if exists payment_payer;
