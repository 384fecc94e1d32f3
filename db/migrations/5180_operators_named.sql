-- outside a transaction
drop index concurrently if exists registration_operator_named;
create index concurrently registration_operator_named
  on registration_operator (owner, chain, operator, block_timestamp, block_number, log_index);
