create or replace view directory.reservations as
select b.id, b.chain, b.from_block, b.to_block, b.completed_at, s.loaded_blocks, s.settlements, s.amount_usdc
  from public.backfill b
 cross join lateral (
   select coalesce(sum(next_block - first_block), 0)::bigint as loaded_blocks,
          coalesce(sum(settlements), 0)::bigint as settlements, coalesce(sum(amount), 0) * 0.000001 as amount_usdc
     from public.backfill_shard where backfill_id = b.id
 ) s;

comment on view directory.reservations is e'@behavior -*\nRanges of blocks that a backfill loads, or has loaded: the chain’s processor leaves their settlements alone.';
comment on column directory.reservations.id is 'Number of the backfill.';
comment on column directory.reservations.chain is 'Lowercase name of the chain.';
comment on column directory.reservations.from_block is 'First block of the range.';
comment on column directory.reservations.to_block is 'Its last block.';
comment on column directory.reservations.completed_at is 'When all its rows were there; null: it is being loaded.';
comment on column directory.reservations.loaded_blocks is 'Blocks that were read so far.';
comment on column directory.reservations.settlements is 'Settlements in them.';
comment on column directory.reservations.amount_usdc is 'Dollars, with all six decimals.';
