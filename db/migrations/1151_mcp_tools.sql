-- What an MCP server says of itself when it is asked. Null and empty: a document that is read and not asked.
alter table agent_spec
  add column protocol_version text,                  -- revision that was agreed on
  add column tool_hashes text[] not null default '{}', -- SHA-256 of each definition, as `tools`
  add column tools_changed_at timestamptz;           -- when one was last seen changed behind the same name

create or replace view directory.specs as
select fid, kind, url, title, version, skills, tools, path_count, domain_verified,
       '0x' || encode(content_sha256, 'hex') as content_sha256, first_seen_at, last_alive_at, last_check_at,
       last_check_status, http_status, latency_ms, consecutive_failures, declared, card_signature,
       protocol_version, tool_hashes, tools_changed_at
  from public.agent_spec;
comment on column directory.specs.protocol_version is 'Of an MCP server that was asked: the revision of the protocol it speaks; null: it was not asked.';
comment on column directory.specs.tool_hashes is 'SHA-256 of the definition of each of `tools`, in their order; empty: the server was not asked.';
comment on column directory.specs.tools_changed_at is 'When the definition of a tool was last seen changed while its name stayed; null: never.';
