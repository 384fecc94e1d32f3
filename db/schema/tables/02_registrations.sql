-- ERC-8004 identities, written by the chain processors. Entities of these tables: schema.graphql. No foreign key points
-- into a table of a chain: hot blocks are undone by deleting rows.

create table registration (
  id text primary key,
  chain text not null,
  agent_id numeric(78, 0) not null,
  owner bytea,
  burned boolean not null,
  agent_wallet bytea,
  agent_uri text,
  agent_uri_length int,
  agent_uri_sha256 bytea,
  registered_block int not null,
  registered_at timestamptz not null,
  registered_tx bytea not null,
  acquired_block int not null,
  acquired_at timestamptz not null,
  updated_block int not null,
  updated_at timestamptz not null,
  unique (chain, agent_id)
);
create index registration_held on registration (owner, chain, agent_id);
create index registration_of_wallet on registration (agent_wallet, chain, agent_id) where agent_wallet is not null;
-- What was written in a range of blocks, for the auditor and for taking a chain back; so are the other indexes by block.
create index registration_updated on registration (chain, updated_block);

-- Hash of a registration's URI, kept or not: beyond 256 KiB the processors keep the hash alone.
create function uri_sha256(r registration) returns bytea language sql immutable
  return coalesce(r.agent_uri_sha256, sha256(convert_to(coalesce(r.agent_uri, ''), 'UTF8')));

create table registration_transfer (
  id text primary key,
  chain text not null,
  agent_id numeric(78, 0) not null,
  "from" bytea,
  "to" bytea,
  block_number int not null,
  log_index int not null,
  block_timestamp timestamptz not null,
  tx_hash bytea not null,
  unique (chain, agent_id, block_number, log_index)
);
create index registration_transfer_to on registration_transfer ("to");
create index registration_transfer_from on registration_transfer ("from", chain, agent_id) where "from" is not null;
create index registration_transfer_block on registration_transfer (chain, block_number);
-- A chain's first event: nothing is known of holders before it.
create index registration_transfer_time on registration_transfer (chain, block_timestamp);

-- Every holding of a token: from the Transfer that gave it to the one that took it away.
create view holding as
select chain, agent_id, "to" as holder,
       block_number as acquired_block, log_index as acquired_log_index,
       block_timestamp as acquired_at, tx_hash as acquired_tx,
       lead(block_number) over token as released_block,
       lead(block_timestamp) over token as released_at,
       lead(tx_hash) over token as released_tx,
       lead("to") over token as transferred_to
  from registration_transfer
window token as (partition by chain, agent_id order by block_number, log_index);

create table registration_metadata (
  id text primary key,
  chain text not null,
  agent_id numeric(78, 0) not null,
  key text not null,
  value bytea not null,
  block_number int not null,
  log_index int not null,
  block_timestamp timestamptz not null,
  -- Transaction that set the value: what named a wallet can be looked up, and the wallet's signature with it.
  tx_hash bytea not null
);
create index registration_metadata_agent on registration_metadata (chain, agent_id);
-- Whose metadata has a key: the beginning of it, as keys may be longer than an index takes.
create index registration_metadata_key on registration_metadata (chain, (left(key, 64)), agent_id, id);
create index registration_metadata_block on registration_metadata (chain, block_number);

-- Every wallet that the registry stored for a registration, one after the other: what an agent earned by one that was
-- replaced since is known by it. Written by the chain processors, undone and mended like transfers.
create table registration_wallet (
  id text primary key,
  chain text not null,
  agent_id numeric(78, 0) not null,
  wallet bytea,  -- null: unset, or bytes that hold no address
  block_number int not null,
  log_index int not null,
  block_timestamp timestamptz not null,
  tx_hash bytea not null,
  unique (chain, agent_id, block_number, log_index)
);
create index registration_wallet_block on registration_wallet (chain, block_number);

-- Addresses that were approved for a token, and operators that owners named for all of their tokens: who else could change
-- a registration. A Transfer ends the token's approval without an event.
create table registration_approval (
  id text primary key,
  chain text not null,
  agent_id numeric(78, 0) not null,
  owner bytea not null,
  approved bytea, -- null: taken back
  block_number int not null,
  log_index int not null,
  block_timestamp timestamptz not null,
  tx_hash bytea not null,
  unique (chain, agent_id, block_number, log_index)
);
create index registration_approval_block on registration_approval (chain, block_number);

create table registration_operator (
  id text primary key,
  chain text not null,
  owner bytea not null,
  operator bytea not null,
  approved boolean not null,
  block_number int not null,
  log_index int not null,
  block_timestamp timestamptz not null,
  tx_hash bytea not null
);
-- With the operator in it, so that the newest are read in it alone: to read and sort all that an owner said costs more, however
-- few the planner takes that for.
create index registration_operator_newest on registration_operator (owner, chain, block_number, log_index) include (operator, block_timestamp);
-- Each operator that an owner named, and each owner that named an operator, with what it said of it last, at any time: both in
-- order, so that no plan reads how often somebody was named and taken back.
create index registration_operator_named
  on registration_operator (owner, chain, operator, block_timestamp, block_number, log_index);
create index registration_operator_named_by
  on registration_operator (operator, chain, owner, block_timestamp, block_number, log_index);
create index registration_operator_block on registration_operator (chain, block_number);

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

-- What a token's agentURI resolved to. An error keeps the old content and moves only uri_status.
create table registration_document (
  chain text not null,
  agent_id numeric(78, 0) not null,
  uri_sha256 bytea,                    -- of the URI this content belongs to; null: nothing was ever read
  uri_status text not null,            -- ok, pending, empty, unsupported, unreachable, invalid
  name text,
  description text,
  image text,
  active boolean,
  x402_support boolean,
  services json not null default '[]', -- [{name, endpoint, version}]
  supported_trust json not null default '[]',
  updated_at timestamptz not null,
  tried_uri_sha256 bytea,              -- of the URI that uri_status is about: a failed attempt keeps the content before it
  etag text,                           -- of the content, from a host that names its versions
  last_modified text,
  read_at timestamptz,                 -- when it was read last; what is settled is not asked for again and leaves no other trace
  -- Which registrations a registration file says are its agent's: [{chain, agentId}], those of known registries alone. Null:
  -- it does not say.
  registrations json,
  truncated jsonb not null default '{}', -- lists of the file of which only a part is kept: how many entries they have
  -- Whether the address that answered last, after all redirects, had the origin of the agentURI; null: not known yet.
  own_origin boolean,
  primary key (chain, agent_id)
);
