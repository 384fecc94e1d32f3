-- outside a transaction
-- Without what a contract holds.
drop index concurrently if exists payment_paid_to;
create index concurrently payment_paid_to on payment (payee, block_timestamp, chain, block_number, log_index) where net <> 0;
drop index concurrently if exists payment_received;
