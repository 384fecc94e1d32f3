-- History of settlements that a backfill loads. A chain's processor leaves the settlements of these blocks alone.

create extension if not exists btree_gist;

create table backfill (
  id int generated always as identity primary key,
  chain text not null,
  from_block int not null,
  to_block int not null,               -- inclusive
  completed_at timestamptz,            -- from then on all its rows are in `settlement`
  check (from_block >= 0 and from_block <= to_block and to_block < 2147483647),
  exclude using gist (chain with =, int4range(from_block, to_block, '[]') with &&)
);

-- What one process loads, and how far it is: moved in the transaction that adds the rows.
create table backfill_shard (
  backfill_id int not null references backfill on delete cascade,
  first_block int not null,
  last_block int not null,             -- inclusive
  next_block int not null,             -- rows of the blocks below it are committed
  parent_hash bytea,                   -- of the first block; null: nothing is loaded yet
  first_hash bytea,
  last_hash bytea,                     -- of the block below next_block
  settlements bigint not null default 0,
  amount numeric not null default 0,
  checksum numeric(20, 0) not null default 0, -- sum modulo 2^64 over the blocks: first eight bytes of the SHA-256 of their rows
  primary key (backfill_id, first_block)
);

-- Partitions that were empty when the backfill began are loaded aside, without indexes, into a table that takes the
-- partition's place once it is full and indexed. Gone from here: it has.
create table backfill_partition (
  partition text primary key,          -- the one that will be replaced
  backfill_id int not null references backfill on delete cascade,
  aside text not null,
  first_block int not null,            -- of the partition
  last_block int not null
);

create function settlement_has_rows(of_chain text, first_block int, last_block int) returns boolean
language sql stable as $$
  select exists (select from settlement
                  where chain = of_chain and block_number between first_block and last_block)
$$;
