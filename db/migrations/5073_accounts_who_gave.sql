-- outside a transaction
drop index concurrently if exists agent_holding_transferred_to;
create index concurrently agent_holding_transferred_to on agent_holding (transferred_to, fid) where transferred_to is not null;
