-- outside a transaction
-- Payments of a transaction that somebody names.
drop index concurrently if exists payment_tx;
create index concurrently payment_tx on payment using hash (tx_hash);
