-- Settlements of final blocks by hour, so that an agent with millions of them is counted from a few rows.
-- Written by the enrichment job. What of the chain it holds: everything but `settlement_unrolled`.

create table settlement_hourly (
  recipient bytea not null,
  hour timestamptz not null,             -- its beginning
  chain text not null,
  overload boolean not null,             -- of the selectors that take the signature as bytes
  first_block int not null,              -- of the settlements in it, to find them again by (recipient, block_number)
  last_block int not null,
  n bigint not null,
  amount numeric(38, 0) not null,        -- base units
  primary key (recipient, hour, chain, overload)
);

-- How far each chain is rolled up: blocks below next_block are, except those a backfill has claimed.
create table settlement_rollup (
  chain text primary key,
  next_block bigint not null
);
insert into settlement_rollup
select chain, 0 from unnest(array['ethereum', 'base', 'celo', 'arbitrum', 'optimism', 'polygon']) as chain;

-- The same of the blocks of one backfill, once it is complete; they count only below the chain's next_block.
create table settlement_rollup_backfill (
  backfill_id int primary key,
  next_block bigint not null
);

-- Blocks whose settlements are not in settlement_hourly; ranges of a chain do not meet. Both ends are inclusive.
create view settlement_unrolled as
select chain, next_block::int as from_block, 2147483647 as to_block from settlement_rollup
 union all
select b.chain, coalesce(p.next_block, b.from_block)::int, least(b.to_block, r.next_block - 1)::int
  from backfill b
  join settlement_rollup r using (chain)
  left join settlement_rollup_backfill p on p.backfill_id = b.id
 where coalesce(p.next_block, b.from_block) <= least(b.to_block, r.next_block - 1);

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
