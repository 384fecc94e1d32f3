-- What the chain processors write. Entities of these tables: schema.graphql.
-- No foreign key points here: hot blocks are undone by deleting rows.

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
create index registration_owner on registration (owner);
create index registration_agent_wallet on registration (agent_wallet) where agent_wallet is not null;

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

create table registration_metadata (
  id text primary key,
  chain text not null,
  agent_id numeric(78, 0) not null,
  key text not null,
  value bytea not null,
  block_number int not null,
  log_index int not null,
  block_timestamp timestamptz not null
);
create index registration_metadata_agent on registration_metadata (chain, agent_id);

create table feedback (
  id text primary key,
  chain text not null,
  agent_id numeric(78, 0) not null,
  client bytea not null,
  feedback_index numeric(20, 0) not null,
  value numeric(39, 0) not null,
  value_decimals int not null,
  tag1 text not null,
  tag2 text not null,
  endpoint text not null,
  feedback_uri text not null,
  feedback_hash bytea not null,
  block_number int not null,
  log_index int not null,
  block_timestamp timestamptz not null,
  tx_hash bytea not null,
  revoked_block int,
  revoked_at timestamptz
);
create index feedback_agent on feedback (chain, agent_id);
create index feedback_client on feedback (client);

-- How far each chain is. Written by its processor in the transaction that moves the cursor.
create table chain_state (
  chain text primary key,
  chain_id int not null,
  indexed_block int not null,
  indexed_at timestamptz,          -- timestamp of that block
  finalized_block int not null,    -- rows at or below it are never undone
  head_block int not null,         -- head of the source as last seen
  updated_at timestamptz not null
);

-- Blocks that were the newest final one when a processor's transaction ended, newest ten thousand of a chain: when a
-- reorg goes deeper than that should be possible, they tell where the indexed chain and the real one part.
create table final_block (
  chain text not null,
  height int not null,
  hash text not null,                    -- lowercase hex
  primary key (chain, height)
);

-- Addresses whose holdings changed, for the enrichment job: any write to a transfer, undoing included.
-- Append-only, so that writers of different chains never wait for each other.
create table holder_event (
  seq bigint generated always as identity primary key,
  address bytea not null
);
create function note_holders() returns trigger language plpgsql as $$
begin
  if tg_op <> 'DELETE' then
    insert into holder_event (address)
      select distinct address from added, lateral (values (added."from"), (added."to")) as side (address)
       where address is not null;
  else
    insert into holder_event (address)
      select distinct address from removed, lateral (values (removed."from"), (removed."to")) as side (address)
       where address is not null;
  end if;
  return null;
end $$;
create trigger registration_transfer_added after insert on registration_transfer
  referencing new table as added for each statement execute function note_holders();
create trigger registration_transfer_removed after delete on registration_transfer
  referencing old table as removed for each statement execute function note_holders();

-- What changed about a token without changing hands (its URI, its wallet, feedback), for the enrichment job.
create table token_event (
  seq bigint generated always as identity primary key,
  chain text not null,
  agent_id numeric(78, 0) not null
);
create function note_tokens() returns trigger language plpgsql as $$
begin
  if tg_op <> 'DELETE' then
    insert into token_event (chain, agent_id) select distinct chain, agent_id from added;
  else
    insert into token_event (chain, agent_id) select distinct chain, agent_id from removed;
  end if;
  return null;
end $$;
create trigger registration_added after insert on registration
  referencing new table as added for each statement execute function note_tokens();
create trigger registration_changed after update on registration
  referencing new table as added for each statement execute function note_tokens();
create trigger registration_removed after delete on registration
  referencing old table as removed for each statement execute function note_tokens();
create trigger feedback_added after insert on feedback
  referencing new table as added for each statement execute function note_tokens();
create trigger feedback_changed after update on feedback
  referencing new table as added for each statement execute function note_tokens();
create trigger feedback_removed after delete on feedback
  referencing old table as removed for each statement execute function note_tokens();

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
