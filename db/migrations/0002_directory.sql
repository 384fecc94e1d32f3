-- Service tables: written by the enrichment job; `claim` by the API.

create extension if not exists pg_trgm;

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
  etag text,
  last_modified text,
  body_sha256 bytea,
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

-- What a token's agentURI resolved to. An error keeps the old content and moves only uri_status.
create table registration_document (
  chain text not null,
  agent_id numeric(78, 0) not null,
  uri_sha256 bytea not null,       -- of the URI this content belongs to
  uri_status text not null,        -- ok, pending, empty, unsupported, unreachable, invalid
  name text,
  description text,
  image text,
  active boolean,
  x402_support boolean,
  services json not null default '[]',         -- [{name, endpoint, version}]
  supported_trust json not null default '[]',
  updated_at timestamptz not null,
  primary key (chain, agent_id)
);

create table claim (
  fid bigint not null,
  method text not null,            -- eip191, jfs, well-known
  nonce text not null,
  proof json not null,             -- as received
  proof_sha256 bytea not null,
  signer text not null,            -- address, app key or host
  signed_at timestamptz,
  received_at timestamptz not null,
  claimed_at timestamptz not null default now(),
  verified_addresses text[] not null,  -- snapshot
  host_link text,                  -- well-known: what linked the host to the fid
  primary key (fid, method, nonce)
);

-- Derived: one row an agent, recomputed whole in one transaction whenever one of its inputs changed.
create table agent (
  fid bigint primary key,
  handle text,
  display_name text,
  bio text,
  pfp_url text,
  oli text,
  chains text[] not null,              -- names of chains with a current record, in the table's order
  verified_addresses bytea[] not null, -- the current verified set, sorted
  claimed boolean not null,
  claim_method text,
  claimed_at timestamptz,
  agent_status text not null,          -- active, historical, claimed-only
  registered_at timestamptz not null,
  listed_at timestamptz not null,
  registry_event_at timestamptz,       -- newest registry event of a current record
  last_message_at timestamptz,
  last_alive_at timestamptz,
  has_spec boolean not null default false,
  has_codehost boolean not null default false,
  spec_check_status text not null default 'unchecked',
  settlements_30d bigint not null default 0,   -- refreshed every minute, for sorting; the profile counts exactly
  settlements_all bigint not null default 0,
  last_settlement_at timestamptz,
  search text not null,                -- lowercase handle, display name and oli, one a line
  -- Last change of anything a reader sees in this row or its holdings; messages and settlements are activity, not change.
  changed_at timestamptz not null
);
create index agent_search on agent using gin (search gin_trgm_ops);
create index agent_newest on agent (listed_at desc, fid desc);
create index agent_oldest on agent (listed_at, fid desc);
create index agent_cross_chain on agent (cardinality(chains) desc, settlements_all desc, fid desc);
create index agent_most_active on agent (settlements_30d desc, settlements_all desc, fid desc);

-- Derived with `agent`: every holding of a verified address of the fid. reason is null for a current record.
create table agent_holding (
  fid bigint not null,
  chain text not null,
  agent_id numeric(78, 0) not null,
  held_by bytea not null,
  acquired_block int not null,
  acquired_log_index int not null,
  acquired_at timestamptz not null,
  released_block int,
  released_at timestamptz,
  released_tx bytea,
  transferred_to bytea,
  to_fid bigint,
  reason text,                         -- transfer, burn, verification_removed
  token_digest uuid,                   -- of what is shown of the token from other tables, to tell a change from none
  primary key (fid, chain, agent_id, acquired_block, acquired_log_index)
);
create index agent_holding_token on agent_holding (chain, agent_id);
create index agent_holding_transferred_to on agent_holding (transferred_to) where transferred_to is not null;

-- What a mirror has to follow: upsert or delist, in sequence order, which is the order of commits.
create table agent_change (
  seq bigint generated always as identity primary key,
  fid bigint not null,
  kind text not null,
  changed_at timestamptz not null
);
create index agent_change_fid on agent_change (fid, seq desc);

-- Agents to be derived again. Append-only, consumed by the enrichment job.
create table agent_event (
  seq bigint generated always as identity primary key,
  fid bigint not null
);
create index agent_event_fid on agent_event (fid);
create function note_agents() returns trigger language plpgsql as $$
begin
  insert into agent_event (fid) select distinct fid from added;
  return null;
end $$;
create trigger social_profile_added after insert on social_profile
  referencing new table as added for each statement execute function note_agents();
create trigger social_profile_changed after update on social_profile
  referencing new table as added for each statement execute function note_agents();
create trigger claim_added after insert on claim
  referencing new table as added for each statement execute function note_agents();

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

create trigger registration_document_added after insert on registration_document
  referencing new table as added for each statement execute function note_tokens();
create trigger registration_document_changed after update on registration_document
  referencing new table as added for each statement execute function note_tokens();
