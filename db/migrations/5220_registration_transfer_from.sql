-- outside a transaction
-- What an address gave away.
drop index concurrently if exists registration_transfer_from;
create index concurrently registration_transfer_from on registration_transfer ("from", chain, agent_id) where "from" is not null;
