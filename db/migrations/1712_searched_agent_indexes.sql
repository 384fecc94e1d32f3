-- outside a transaction
-- Agents by words, and by parts of their names.
drop index concurrently if exists searched_agent_document;
create index concurrently searched_agent_document on searched_agent using gin (document);
drop index concurrently if exists searched_agent_search;
create index concurrently searched_agent_search on searched_agent using gin (search gin_trgm_ops);
