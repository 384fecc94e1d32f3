-- The chains that are indexed, and how far. What is true of a chain whatever was indexed stands in the chain table of the
-- program: functions of the database are made of it whenever a database is migrated.

-- How far each chain is. Written by its processor in the transaction that moves the cursor.
create table chain_state (
  chain text primary key,
  chain_id int not null,
  indexed_block int not null,
  indexed_at timestamptz,       -- timestamp of that block
  finalized_block int not null, -- rows at or below it are never undone
  head_block int not null,      -- head of the source as last seen
  updated_at timestamptz not null
);

-- The contracts that a chain was indexed with, and from which block: a new one, or an earlier block, leaves rows out that
-- nobody would look for again.
create table chain_contract (
  chain text not null,
  address text not null, -- lowercase hex
  from_block int not null,
  -- A payment contract that was added when its chain was indexed already: what it paid up to to_block is loaded by the
  -- processor, from next_block on. Null: nothing is left to load.
  next_block int,
  to_block int,
  primary key (chain, address)
);

-- Blocks that were the newest final one when a processor's transaction ended, newest ten thousand of a chain: when a
-- reorg goes deeper than that should be possible, they tell where the indexed chain and the real one part.
create table final_block (
  chain text not null,
  height int not null,
  hash text not null, -- lowercase hex
  primary key (chain, height)
);

-- The first block in which a chain's settlements can be; made of the chain table whenever a database is migrated.
create function chain_first_block_of(text) returns int language sql immutable parallel safe as 'select null::int';

-- The chain's id and its label, from there as well.
create function chain_id_of(text) returns bigint language sql immutable parallel safe as 'select null::bigint';
create function chain_label_of(text) returns text language sql immutable parallel safe as 'select null::text';

-- Address of a chain's identity registry, or of its reputation registry, from there as well; of the chain '': of the one that
-- the authors of the standard deployed.
create function registry_of(of_chain text, of_reputation boolean) returns text
  language sql immutable parallel safe as 'select null::text';
