-- outside a transaction
drop index concurrently if exists registration_operator_newest;
create index concurrently registration_operator_newest
  on registration_operator (owner, chain, block_number, log_index) include (operator, block_timestamp);
