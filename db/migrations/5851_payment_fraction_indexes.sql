-- outside a transaction
create index concurrently payment_by_payer on payment (payer, block_number desc) where net <> 0 or fraction_sign is not null;
create index concurrently payment_by_payee on payment (payee, block_timestamp, chain, block_number, log_index)
  where net <> 0 or fraction_sign is not null;
drop index concurrently if exists payment_paid_by;
drop index concurrently if exists payment_paid_to;
