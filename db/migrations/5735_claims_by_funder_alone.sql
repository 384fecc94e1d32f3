-- outside a transaction
drop index concurrently if exists payment_funder;
