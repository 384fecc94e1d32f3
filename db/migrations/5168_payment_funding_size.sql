-- outside a transaction
drop index concurrently if exists payment_funding_size;
create index concurrently payment_funding_size on payment
  (funded_subject(kind, subject), chain, funding_size(gross) desc, block_number, log_index)
  where funded_subject(kind, subject) is not null;
