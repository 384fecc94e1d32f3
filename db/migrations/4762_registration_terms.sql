-- outside a transaction
drop index concurrently if exists searched_registration_terms;
