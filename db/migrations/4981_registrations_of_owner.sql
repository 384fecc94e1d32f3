-- outside a transaction
drop index concurrently if exists registration_held;
create index concurrently registration_held on registration (owner, chain, agent_id);
drop index concurrently if exists registration_owner;
