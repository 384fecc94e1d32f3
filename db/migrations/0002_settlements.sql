-- Settlements and unpaid authorizations, written by the chain processors and the backfill.

-- Columns from wide to narrow, so that a row carries no padding: about 2e8 rows on Base alone.
create table settlement (
  amount bigint not null,
  block_timestamp timestamptz not null,
  block_number int not null,
  log_index int not null,
  chain text not null,
  selector_source "char" not null,
  selector bytea not null,
  token bytea not null,
  payer bytea not null,
  recipient bytea not null,
  facilitator bytea not null,
  payment_nonce bytea not null,
  tx_hash bytea not null,
  id text,
  primary key (chain, block_number, log_index)
) partition by list (chain);
create index settlement_recipient on settlement (recipient, block_number desc);
-- Undoing a hot block deletes by id; rows of final blocks have none and are not in this index.
create index settlement_hot on settlement (id) where id is not null;

-- Its partitions, one or more a chain, are made of the chain table whenever a database is migrated, and by processors as
-- their chains grow. None takes what no other does: it would keep partitions from being taken out while the table is read.

create table unpaid_authorization (
  id text primary key,
  chain text not null,
  block_number int not null,
  token bytea not null,
  count int not null
);

-- SETTLEMENT_SCOPE=verified: settlements of known recipients alone are kept. Written by the chains' processors.

-- Chains that are indexed so. No row: the settlements of every recipient are kept.
create table settlement_scope (
  chain text primary key,
  complete_to int not null,            -- up to this block those of every recipient are there; -1: nowhere
  own_from int not null                -- from this block on the processor reads them as it goes
);

-- Recipients that are or were known, and which blocks' settlements of theirs are there: those below next_block, loaded
-- by recipient, and those above to_block, written as the processor goes, up to ended_block.
create table known_recipient (
  chain text not null,
  address bytea not null,
  next_block int not null,
  to_block int not null,
  ended_block int,                     -- null: a live verification names the address
  primary key (chain, address)
);
create index known_recipient_waiting on known_recipient (chain, next_block)
  where next_block <= to_block and ended_block is null;
