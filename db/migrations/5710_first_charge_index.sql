-- outside a transaction
drop index concurrently if exists payment_charged;
create index concurrently payment_charged on payment (subject, chain, block_number, log_index)
  where kind in ('escrow_charge', 'escrow_capture') and net > 0;
