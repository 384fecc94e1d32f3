-- outside a transaction
drop index concurrently if exists searched_registration_chain_active;
create index concurrently searched_registration_chain_active on searched_registration (chain, active_at, agent_id);
drop index concurrently if exists searched_registration_chain_moved;
create index concurrently searched_registration_chain_moved on searched_registration (chain, moved_at, agent_id);
drop index concurrently if exists searched_registration_chain_named;
create index concurrently searched_registration_chain_named on searched_registration (chain, (left(coalesce(name, ''), 200)), agent_id);
drop index concurrently if exists searched_registration_chain_rated;
create index concurrently searched_registration_chain_rated on searched_registration (chain, feedback_count, agent_id);
drop index concurrently if exists registration_metadata_key;
create index concurrently registration_metadata_key on registration_metadata (chain, (left(key, 64)), agent_id, id);
