-- Events of the registries of which the other tables keep the outcome only, so that every event has a row somewhere: what a
-- registration was called before, who changed it, and when feedback was revoked. A chain that was indexed before this table
-- was there has those of later blocks only; taking it back (npm run reset) brings the others.
create table registry_event (
  id text primary key,
  chain text not null,
  agent_id numeric(78, 0) not null,
  event text not null,           -- Registered, URIUpdated, MetadataSet, FeedbackRevoked
  account bytea,                 -- the owner that Registered names, who updated the URI, the client; null: of MetadataSet
  uri text,                      -- null: longer than 8 KiB, or of another event
  uri_length int,                -- bytes
  key text,
  value bytea,
  feedback_index numeric(20, 0),
  block_number int not null,
  log_index int not null,
  block_timestamp timestamptz not null,
  tx_hash bytea not null,
  unique (chain, agent_id, block_number, log_index)
);
create index registry_event_block on registry_event (chain, block_number);

-- Addresses of a chain's registries, and those of the ones that the authors of the standard deployed, from there as well.
create or replace function chain_identity_registry_of(text) returns text language sql immutable parallel safe as 'select null::text';
create or replace function chain_reputation_registry_of(text) returns text language sql immutable parallel safe as 'select null::text';
create or replace function official_registries() returns text[] language sql immutable parallel safe as 'select null::text[]';
