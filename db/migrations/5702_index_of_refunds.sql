-- outside a transaction
drop index concurrently if exists payment_taken_back;
create index concurrently payment_taken_back
  on payment (subject, chain, block_number, log_index) where sign(net) = -1;
