alter table registration_document add column own_origin boolean;

create or replace view own_file as
select r.chain, r.agent_id, r.agent_uri
  from registration r
  join registration_document d using (chain, agent_id)
 where d.uri_status = 'ok' and d.uri_sha256 = uri_sha256(r) and d.tried_uri_sha256 = d.uri_sha256
   and d.own_origin
   and d.registrations::jsonb @> jsonb_build_array(jsonb_build_object('chain', r.chain, 'agentId', r.agent_id::text));
