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
