-- What sources beside the chains say, each written by its source alone, and when each is read.

-- Queue and memory of every source: the lease is folded into due_at, so leased rows leave the head of the index.
create table source_state (
  source text not null,            -- socialindex, agent_uri, explorer, identity, codehost, spec_discovery;
                                   -- of the social network also social_shards, social_events, social_sweep, social_lookup
  subject text not null,           -- fid:123, address:0x..., token:base:12, shard:1
  due_at timestamptz not null,
  priority smallint not null default 0,  -- 2 just claimed or new holder, 1 viewed and stale, 0 the rest
  lease_id uuid,
  last_attempt_at timestamptz,
  last_success_at timestamptz,
  last_outcome text,
  failures int not null default 0,
  last_error text,                 -- of the last failed attempt, for whoever has to find out why; gone with the next answer
  primary key (source, subject)
);
create index source_state_due on source_state (source, priority desc, due_at);
create index source_state_subject on source_state (subject);

-- How far a stream or a sweep has been applied; saved in the transaction that applies the page.
create table source_cursor (
  source text not null,
  shard text not null,
  position text not null,
  updated_at timestamptz not null,
  primary key (source, shard)
);

-- Requests to hosts that count them by the day, and their wishes to be left alone: for all processes, and the next one.
create table host_budget (
  host text primary key,
  day date not null,
  spent int not null,
  rests_until timestamptz
);

-- What there was to ask a source about an agent when it was last asked for: another digest asks anew.
create table agent_input (
  fid bigint not null,
  source text not null,
  digest uuid not null,
  primary key (fid, source)
);

-- Verifications of protocol Ethereum, as history. An open row (ended_at null) is a live one.
create table verified_address (
  fid bigint not null,
  address bytea not null,
  verified_at timestamptz not null,
  ended_at timestamptz,
  observed_at timestamptz not null default now(), -- when the row became what it is: an answer asked for earlier is older news
  primary key (fid, address, verified_at),
  check (ended_at >= verified_at)
);
create unique index verified_address_live on verified_address (fid, address) where ended_at is null;
create index verified_address_address on verified_address (address);
-- A verification concerns every agent that meets the address: who verifies it, and who gave a token to it.
create function note_verified_addresses() returns trigger language plpgsql as $$
begin
  insert into holder_event (address) select distinct address from changed;
  return null;
end $$;
create trigger verified_address_added after insert on verified_address
  referencing new table as changed for each statement execute function note_verified_addresses();
create trigger verified_address_changed after update on verified_address
  referencing new table as changed for each statement execute function note_verified_addresses();
create trigger verified_address_removed after delete on verified_address
  referencing old table as changed for each statement execute function note_verified_addresses();

create table social_profile (
  fid bigint primary key,
  handle text,
  display_name text,
  bio text,
  pfp_url text,
  profile_url text,
  github text,
  twitter text,
  last_message_at timestamptz,
  updated_at timestamptz not null
);
create trigger social_profile_added after insert on social_profile
  referencing new table as added for each statement execute function note_agents();
create trigger social_profile_changed after update on social_profile
  referencing new table as added for each statement execute function note_agents();

-- Whom agents follow, the newest first: of them those in the index are edges.
create table social_follow (
  fid bigint primary key,
  targets bigint[] not null,
  followed_at timestamptz[] not null
);

-- What a token's agentURI resolved to. An error keeps the old content and moves only uri_status.
create table registration_document (
  chain text not null,
  agent_id numeric(78, 0) not null,
  uri_sha256 bytea,                -- of the URI this content belongs to; null: nothing was ever read
  uri_status text not null,        -- ok, pending, empty, unsupported, unreachable, invalid
  name text,
  description text,
  image text,
  active boolean,
  x402_support boolean,
  services json not null default '[]',         -- [{name, endpoint, version}]
  supported_trust json not null default '[]',
  updated_at timestamptz not null,
  tried_uri_sha256 bytea,          -- of the URI that uri_status is about: a failed attempt keeps the content before it
  etag text,                       -- of the content, from a host that names its versions
  last_modified text,
  read_at timestamptz,             -- when it was read last; what is settled is not asked for again and leaves no other trace
  primary key (chain, agent_id)
);
create trigger registration_document_added after insert on registration_document
  referencing new table as added for each statement execute function note_tokens();
create trigger registration_document_changed after update on registration_document
  referencing new table as added for each statement execute function note_tokens();

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

-- What sources outside the chains and the social network say about agents; each written by its source alone.

create table oli_tag (
  fid bigint not null,
  address bytea not null,
  source text not null,                -- blockscout, oli
  chain text,                          -- null: holds on every chain
  slug text not null,
  name text not null,
  tag_type text not null,
  ordinal int,
  meta json,
  attester bytea,                      -- of an attestation
  fetched_at timestamptz not null,     -- when it was first read as it is
  unique nulls not distinct (fid, source, address, chain, slug, tag_type, attester)
);

create table agent_identity (
  fid bigint not null,
  platform text not null,
  identity text not null,
  display_name text,
  address text,
  url text,
  avatar_url text,
  description text,
  sources text[] not null,             -- who says so; empty: the identity itself does
  follower_count bigint,
  fetched_at timestamptz not null,     -- as above
  primary key (fid, platform, identity)
);

create table codehost_profile (
  fid bigint primary key,
  asked_login text not null,           -- whom the agent names; `login` is how the host writes it
  login text not null,
  user_id bigint not null,
  type text,
  name text,
  url text,
  avatar_url text,
  blog text,
  bio text,
  followers bigint,
  following bigint,
  public_repos bigint,
  total_stars bigint,
  top_languages text[] not null,
  account_created_at timestamptz,
  last_push_at timestamptz,
  verified boolean not null,           -- the account names the agent as well
  source text not null,                -- where the agent names it: socialindex, identity, registration
  user_etag text,                      -- of the two answers
  repositories_etag text,
  fetched_at timestamptz not null      -- as above
);
create trigger oli_tag_added after insert on oli_tag
  referencing new table as added for each statement execute function note_agents();
create trigger oli_tag_changed after update on oli_tag
  referencing new table as added for each statement execute function note_agents();
create trigger oli_tag_removed after delete on oli_tag
  referencing old table as removed for each statement execute function note_agents_gone();
create trigger agent_identity_added after insert on agent_identity
  referencing new table as added for each statement execute function note_agents();
create trigger agent_identity_changed after update on agent_identity
  referencing new table as added for each statement execute function note_agents();
create trigger agent_identity_removed after delete on agent_identity
  referencing old table as removed for each statement execute function note_agents_gone();
create trigger codehost_profile_added after insert on codehost_profile
  referencing new table as added for each statement execute function note_agents();
create trigger codehost_profile_changed after update on codehost_profile
  referencing new table as added for each statement execute function note_agents();
create trigger codehost_profile_removed after delete on codehost_profile
  referencing old table as removed for each statement execute function note_agents_gone();
