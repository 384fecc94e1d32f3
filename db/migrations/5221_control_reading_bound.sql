-- outside a transaction
-- Anybody can bind any number of registrations to a token: the first ones of its holder.
drop index concurrently if exists control_reading_bound;
create index concurrently control_reading_bound on control_reading (master, chain, agent_id) where binding_status = 'verified';
drop index concurrently if exists control_reading_master;
