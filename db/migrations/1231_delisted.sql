-- outside a transaction
-- Agents that left the index, the last first. One that was broken off is made anew.
drop index concurrently if exists agent_change_delisted;
create index concurrently agent_change_delisted on agent_change (changed_at desc, fid) where kind = 'delist';
