-- outside a transaction
drop index concurrently if exists agent_holding_wallet_chain;
create index concurrently agent_holding_wallet_chain on agent_holding (fid, held_by)
 where wallet_chain is not null and reason is null;
