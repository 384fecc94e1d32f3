-- outside a transaction
drop index concurrently if exists due_key;
