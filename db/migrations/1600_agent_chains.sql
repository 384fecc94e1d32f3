-- outside a transaction
-- Agents by chain, for searches and facets that few of them fit.
drop index concurrently if exists agent_chains;
create index concurrently agent_chains on agent using gin (chains);
