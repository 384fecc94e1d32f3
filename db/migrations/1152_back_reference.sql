-- Which registrations a registration file says are its agent's: [{chain, agentId}], those of known registries alone. Null:
-- it does not say, or was read before this was looked at.
alter table registration_document add column registrations json;
-- Whether the host of a document, and the registration file that names it, list a registration of this agent. Null: not
-- known yet.
alter table agent_spec add column back_reference text
  check (back_reference in ('confirmed', 'missing', 'contradicted'));

create or replace view directory.specs as
select fid, kind, url, title, version, skills, tools, path_count, domain_verified,
       '0x' || encode(content_sha256, 'hex') as content_sha256, first_seen_at, last_alive_at, last_check_at,
       last_check_status, http_status, latency_ms, consecutive_failures, declared, card_signature,
       protocol_version, tool_hashes, tools_changed_at, back_reference
  from public.agent_spec;
comment on column directory.specs.back_reference is 'confirmed: its host lists a registration of the agent; missing: it lists none; contradicted: it, or the registration file that names it, lists others only; null: not known yet.';
