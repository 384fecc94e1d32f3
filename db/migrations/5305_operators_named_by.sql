-- outside a transaction
-- With the order of what was said, so that the last is found without all that was said before.
drop index concurrently if exists registration_operator_named_by;
create index concurrently registration_operator_named_by
  on registration_operator (operator, chain, owner, block_timestamp, block_number, log_index);
drop index concurrently if exists registration_operator_operator;
