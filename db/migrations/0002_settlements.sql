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

create table settlement_ethereum partition of settlement for values in ('ethereum');
create table settlement_celo partition of settlement for values in ('celo');
create table settlement_arbitrum partition of settlement for values in ('arbitrum');
create table settlement_optimism partition of settlement for values in ('optimism');
create table settlement_polygon partition of settlement for values in ('polygon');
create table settlement_base partition of settlement for values in ('base') partition by range (block_number);

-- Base in steps of five million blocks (about four months); the name carries the first block in millions.
create function ensure_base_partitions(up_to int) returns void language plpgsql as $$
declare
  step constant int := 5000000;
  first bigint := 0;
begin
  while first <= up_to loop
    execute format(
      'create table if not exists settlement_base_%s partition of settlement_base for values from (%s) to (%s)',
      lpad((first / 1000000)::text, 4, '0'), first, first + step);
    first := first + step;
  end loop;
end $$;
select ensure_base_partitions(100000000);
create table settlement_base_rest partition of settlement_base default;

create table unpaid_authorization (
  id text primary key,
  chain text not null,
  block_number int not null,
  token bytea not null,
  count int not null
);

-- Partitions up to a block, from the last there is: the names and steps of ensure_base_partitions. Chains that are not
-- divided by blocks have the partition they need.
create function ensure_settlement_partitions(of_chain text, up_to int) returns void language plpgsql as $$
declare
  step constant int := 5000000;
  first bigint;
begin
  if of_chain <> 'base' then return; end if;
  first := up_to / step * step;
  while first >= 0 and to_regclass(format('settlement_base_%s', lpad((first / 1000000)::text, 4, '0'))) is null loop
    execute format(
      'create table if not exists settlement_base_%s partition of settlement_base for values from (%s) to (%s)',
      lpad((first / 1000000)::text, 4, '0'), first, first + step);
    first := first - step;
  end loop;
end $$;

-- A new partition locks the chain's settlements for a moment; behind a long reader it had better be made later than
-- let every other reader wait.
alter function ensure_settlement_partitions(text, int) set lock_timeout = '3s';

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
