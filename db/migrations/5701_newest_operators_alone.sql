-- outside a transaction
drop index concurrently if exists registration_operator_owner;
