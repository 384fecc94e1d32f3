-- Registries by one function of the chain table; the view that names the old ones is made again.
create or replace function registry_of(of_chain text, of_reputation boolean) returns text
  language sql immutable parallel safe as 'select null::text';
drop view directory.registry_events;
delete from schema_migration where name = 'schema/directory/registrations/registry_events.sql';
drop function chain_identity_registry_of(text);
drop function chain_reputation_registry_of(text);
drop function official_registries();
