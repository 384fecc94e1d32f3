-- outside a transaction
-- Agents by the time of their first registration, for lists of those of some days among many.
drop index concurrently if exists agent_registered;
create index concurrently agent_registered on agent (registered_at);
