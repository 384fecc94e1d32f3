-- outside a transaction
-- The first refund behind those rows of an escrow's payment that are counted one by one.
drop index concurrently if exists payment_refund;
create index concurrently payment_refund on payment (subject, chain, block_number, log_index) where net < 0;
