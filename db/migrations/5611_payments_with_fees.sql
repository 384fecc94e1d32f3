-- outside a transaction
-- Fees of a payer's payments, for sums that are counted again.
drop index concurrently if exists payment_fee;
create index concurrently payment_fee on payment (payer, payee) where escrow_fee(kind, gross, net) > 0;
