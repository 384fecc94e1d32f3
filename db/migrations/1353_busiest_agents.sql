-- outside a transaction
-- Agents by settlements, for the rankings of the windows that no list is sorted by.
drop index concurrently if exists agent_busiest_7d;
create index concurrently agent_busiest_7d on agent (settlements_7d desc) where settlements_7d > 0;
drop index concurrently if exists agent_busiest;
create index concurrently agent_busiest on agent (settlements_all desc) where settlements_all > 0;
