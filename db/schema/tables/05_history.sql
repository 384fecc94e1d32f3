-- History of settlements that a backfill loads, blocks that are audited, and partitions that are archived.

create extension if not exists btree_gist;

-- Ranges that a backfill loads or has loaded. A chain's processor leaves the settlements of these blocks alone.
create table backfill (
  id int generated always as identity primary key,
  chain text not null,
  from_block int not null,
  to_block int not null,                -- inclusive
  completed_at timestamptz,             -- from then on all its rows are in `settlement`
  sources text[] not null default '{}', -- what it was read from: portal, archive, rpc; empty: not known
  check (from_block >= 0 and from_block <= to_block and to_block < 2147483647),
  exclude using gist (chain with =, int4range(from_block, to_block, '[]') with &&)
);

-- What one process loads, and how far it is: moved in the transaction that adds the rows.
create table backfill_shard (
  backfill_id int not null references backfill on delete cascade,
  first_block int not null,
  last_block int not null,                    -- inclusive
  next_block int not null,                    -- rows of the blocks below it are committed
  parent_hash bytea,                          -- of the first block; null: nothing is loaded yet
  first_hash bytea,
  last_hash bytea,                            -- of the block below next_block
  settlements bigint not null default 0,
  amount numeric not null default 0,
  checksum numeric(20, 0) not null default 0, -- sum modulo 2^64 over the blocks: first eight bytes of the SHA-256 of their rows
  payments bigint not null default 0,         -- what it found besides settlements
  payment_checksum numeric(20, 0) not null default 0, -- sum modulo 2^64 over the payments: first eight bytes of the SHA-256 of each
  -- Whether the chain's node confirmed what it found nothing in: a hole in an archive looks like empty blocks.
  confirmed boolean not null default false,
  primary key (backfill_id, first_block)
);

-- Partitions that were empty when the backfill began are loaded without indexes into a staging table, which takes the
-- partition's place once it is full and indexed. Gone from here: it has.
create table backfill_partition (
  partition text primary key, -- the one that will be replaced
  backfill_id int not null references backfill on delete cascade,
  first_block int not null,   -- of the partition
  last_block int not null,
  -- Blocks of the partition whose settlements, written by others than the backfill, stand in its staging table too. They are final,
  -- so that the exchange itself has only the newest to move.
  copied int4multirange not null default '{}',
  staging_table text not null
);

-- Blocks that a processor wrote from a node, at the head: once they are final the auditor reads them again from the archive.
create table head_range (
  chain text not null,
  from_block int not null,
  to_block int not null,   -- inclusive
  next_block int not null, -- blocks below it are audited
  -- Blocks whose rows the node confirms and the history source denies are not certified: they are audited again later, and
  -- those above them meanwhile. Null: not disputed.
  retry_at timestamptz,
  primary key (chain, from_block)
);

-- What the archive says of such blocks, and what was mended in the table until it said the same.
create table audit_certificate (
  chain text not null,
  from_block int not null,
  to_block int not null,            -- inclusive
  first_hash bytea not null,
  last_hash bytea not null,
  settlements bigint not null,
  amount numeric not null,          -- base units
  checksum numeric(20, 0) not null, -- as of backfill_shard
  missing int not null,             -- settlements that were not there
  surplus int not null,             -- and those that should not have been
  changed int not null,             -- and those with another value, an inferred selector for example
  unpaid int not null,              -- blocks and tokens whose unpaid authorizations were counted wrong
  audited_at timestamptz not null default clock_timestamp(),
  events int not null default 0,    -- of the registries and the IdRegistry in the range
  agents int not null default 0,    -- tokens whose rows did not say what the events do
  custody int not null default 0,   -- changes of custody that were missing, too many or otherwise
  source text not null,             -- what it was read from: portal, archive, rpc
  payments bigint not null,         -- what it found besides settlements
  payment_checksum numeric(20, 0) not null, -- as of backfill_shard
  primary key (chain, from_block)
);

-- Tokens with rows that do not say what the chain's events do: their rows are made again from all of their events, once
-- none of these is newer than what the history source has.
create table audit_agent (
  chain text not null,
  agent_id numeric(78, 0) not null,
  noted_at timestamptz not null default clock_timestamp(), -- or when it was last put off
  primary key (chain, agent_id)
);

-- Partitions of settlements that were taken out of the database, once files of the served export had their rows. Written by
-- the archive command alone.
create table settlement_archive (
  chain text not null,
  from_block int not null,
  to_block int not null,       -- inclusive; the archived blocks of a chain have no gaps between them
  sealed_to int not null,      -- nothing up to this block changes any more: the end of the last archived day
  partition text not null,
  last_at timestamptz,         -- block time of the newest row; null: there was none
  available_since timestamptz, -- block time of the first row behind; null: there is none
  archived_at timestamptz not null default clock_timestamp(),
  dropped_at timestamptz,      -- null: the table still has to be detached or dropped
  primary key (chain, from_block)
);

-- What the rows came to, in pieces that no certificate's end lies within: certificates of archived blocks add up from them.
create table settlement_archive_piece (
  chain text not null,
  from_block int not null,
  to_block int not null,            -- inclusive
  settlements bigint not null,
  amount numeric not null,          -- base units
  checksum numeric(20, 0) not null, -- as of backfill_shard
  primary key (chain, from_block)
);

-- What the rows of an archived partition summed up to: when the last settlement behind it goes, they tell which is the last.
create table settlement_archive_sum (
  chain text not null,
  recipient bytea not null,
  payer bytea not null,
  facilitator bytea not null,
  overload boolean not null,
  archive_block int not null, -- from_block of the archive; sums without one count for nothing
  first_at timestamptz not null,
  last_at timestamptz not null,
  n bigint not null,
  amount numeric(38, 0) not null,
  first_paid_at timestamptz,
  primary key (chain, recipient, payer, facilitator, overload, archive_block)
);

-- Up to where each chain is archived; no row: it is not.
create view settlement_archived as
select chain, max(to_block) as to_block, max(sealed_to) as sealed_to, max(last_at) as until,
       max(available_since) as available_since
  from settlement_archive
 group by chain;
