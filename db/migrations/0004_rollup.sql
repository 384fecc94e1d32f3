-- Sums of the settlements of final blocks, so that an agent with millions of them is counted from a few rows. Written by
-- the enrichment job, all of them in the transaction that moves the mark; they hold everything but `settlement_unrolled`.

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
-- Rankings and totals of the last days read the hours of all recipients.
create index settlement_hourly_hour on settlement_hourly (hour);

-- What each recipient was paid in all, and by whom.
create table settlement_total (
  recipient bytea not null,
  chain text not null,
  overload boolean not null,             -- of the selectors that take the signature as bytes
  last_at timestamptz not null,          -- time of the newest
  n bigint not null,
  amount numeric(38, 0) not null,        -- base units
  primary key (recipient, chain, overload)
);

create table settlement_payer (
  recipient bytea not null,
  payer bytea not null,
  chain text not null,
  overload boolean not null,
  last_at timestamptz not null,          -- time of the newest
  n bigint not null,
  amount numeric(38, 0) not null,
  first_at timestamptz not null,         -- time of the oldest
  primary key (recipient, payer, chain, overload)
);
-- Whom an address that has just been verified has paid.
create index settlement_payer_payer on settlement_payer (payer);

-- How far each chain is rolled up: blocks below next_block are, except those a backfill has reserved. The rows are made of
-- the chain table whenever a database is migrated.
create table settlement_rollup (
  chain text primary key,
  next_block bigint not null
);

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

-- While versions change, a job of the one before may still run: it adds to fewer tables than there are, and what it left
-- out would never be added. So marks move only in a transaction that names the sums it keeps, as `lockRollup` does; any
-- other is refused whole, with what it has added.

create function refuse_other_sums() returns trigger language plpgsql as $$
begin
  if coalesce(current_setting('directory.sums', true), '') <> 'hours, totals, payers' then
    raise exception 'this program does not keep the sums of settlements that this database has; update it';
  end if;
  return new;
end $$;
create trigger settlement_rollup_moved before update on settlement_rollup
  for each row execute function refuse_other_sums();
create trigger settlement_rollup_backfill_moved before insert or update on settlement_rollup_backfill
  for each row execute function refuse_other_sums();

-- What addresses of agents were paid in the windows that rankings and totals are made of, as the enrichment job last
-- counted it, every minute. Amounts in base units.

create table recipient_counts (
  address bytea primary key,
  last_24h bigint not null,
  last_24h_amount numeric(38, 0) not null,
  last_7d bigint not null,
  last_7d_amount numeric(38, 0) not null,
  last_30d bigint not null,
  last_30d_amount numeric(38, 0) not null,
  ever bigint not null,
  ever_amount numeric(38, 0) not null,
  newest_at timestamptz                  -- time of the newest settlement; null: there is none
);
