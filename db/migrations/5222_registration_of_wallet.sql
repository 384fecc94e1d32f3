-- outside a transaction
-- Registrations of a wallet in an order, so that the first ones are read without all others.
drop index concurrently if exists registration_of_wallet;
create index concurrently registration_of_wallet on registration (agent_wallet, chain, agent_id) where agent_wallet is not null;
drop index concurrently if exists registration_agent_wallet;
