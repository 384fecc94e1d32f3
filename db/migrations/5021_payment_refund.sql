-- outside a transaction
-- Refunds, and what is left to be refunded, are found by their subject.
drop index concurrently if exists payment_refund;
drop index concurrently if exists payment_of_subject;
create index concurrently payment_of_subject on payment (subject, chain, block_number, log_index) where subject is not null;
