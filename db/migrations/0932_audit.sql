-- Blocks that a processor wrote from a node, at the head: once they are final the auditor reads them again from the archive.
create table head_range (
  chain text not null,
  from_block int not null,
  to_block int not null,               -- inclusive
  next_block int not null,             -- blocks below it are audited
  primary key (chain, from_block)
);

-- What the archive says of such blocks, and what was mended in the table until it said the same.
create table audit_certificate (
  chain text not null,
  from_block int not null,
  to_block int not null,               -- inclusive
  first_hash bytea not null,
  last_hash bytea not null,
  settlements bigint not null,
  amount numeric not null,             -- base units
  checksum numeric(20, 0) not null,    -- as of backfill_shard
  missing int not null,                -- settlements that were not there
  surplus int not null,                -- and those that should not have been
  changed int not null,                -- and those with another value, an inferred selector for example
  unpaid int not null,                 -- blocks and tokens whose unpaid authorizations were counted wrong
  audited_at timestamptz not null default clock_timestamp(),
  primary key (chain, from_block)
);
