-- outside a transaction
-- What agents sell is found by index.
drop index concurrently if exists agent_spec_sold;
create index concurrently agent_spec_sold on agent_spec using gin (sold_words(resources));
