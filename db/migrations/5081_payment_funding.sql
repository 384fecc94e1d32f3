-- outside a transaction
-- Funding is found in the order of the chain, without the other rows of its subject.
drop index concurrently if exists payment_funding;
create index concurrently payment_funding on payment (funded_subject(kind, subject), chain, block_number, log_index)
  where funded_subject(kind, subject) is not null;
drop index concurrently if exists payment_subject;
