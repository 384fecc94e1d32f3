-- Machine-readable documents on agents' own hosts, with the history of their checks.
create table agent_spec (
  fid bigint not null,
  kind text not null,                  -- a2a, mcp, openapi, x402
  url text not null,
  declared boolean not null,           -- named by a registration; else found where such documents usually lie
  has_content boolean not null,        -- a document was read here once
  title text,
  version text,
  skills text[] not null,
  tools text[] not null,
  path_count int,
  content_sha256 bytea,
  etag text,                           -- of the content
  last_modified text,
  domain_verified boolean not null,    -- the host lists a token of the agent as its own
  first_seen_at timestamptz not null,
  last_alive_at timestamptz,
  last_check_at timestamptz not null,
  last_check_status text not null,
  http_status int,
  latency_ms int,
  consecutive_failures int not null,
  primary key (fid, kind, url)
);

create table agent_spec_check (
  fid bigint primary key,
  spec_check_status text not null,     -- found, not_found, unreachable, invalid
  checked_at timestamptz not null
);
create trigger agent_spec_check_added after insert on agent_spec_check
  referencing new table as added for each statement execute function note_agents();
create trigger agent_spec_check_changed after update on agent_spec_check
  referencing new table as added for each statement execute function note_agents();

-- What was there to look at when a look was last asked for: another digest asks for another look.
create table agent_spec_inputs (
  fid bigint primary key,
  digest uuid not null
);

alter table agent add column spec_digest uuid; -- of what is shown of the documents, to tell a change from none
