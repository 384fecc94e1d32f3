-- outside a transaction
drop index concurrently if exists searched_agent_declared;
create index concurrently searched_agent_declared on searched_agent using gin (declared);
