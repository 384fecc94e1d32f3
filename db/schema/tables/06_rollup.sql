-- Sums of the settlements of final blocks, so that an agent with millions of them is counted from a few rows. They hold
-- everything but `settlement_unrolled`. Exact deltas: what comes is added and what goes is taken off, in the transaction
-- that moves the mark, mends, loads by recipient or resets. No sum is of nothing.

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

-- What each recipient was paid in an hour. Here and below, fillfactor leaves room in each page for the next version of a row:
-- a pair that pays again, or an hour that goes on, then moves within its page, and no index is written for it.
create table settlement_hourly (
  recipient bytea not null,
  hour timestamptz not null,      -- its beginning
  chain text not null,
  overload boolean not null,      -- of the selectors that take the signature as bytes
  first_block int not null,       -- of the settlements in it, to find them again by (recipient, block_number)
  last_block int not null,
  n bigint not null,
  amount numeric(38, 0) not null, -- base units
  primary key (recipient, hour, chain, overload)
) with (fillfactor = 85);
-- Counts of all agents in the last days read the hours of all recipients.
create index settlement_hourly_hour on settlement_hourly (hour);

-- What everybody was paid in an hour: the sums of settlement_hourly over its recipients.
create table settlement_hour_total (
  chain text not null,
  hour timestamptz not null,      -- its beginning
  overload boolean not null,      -- of the selectors that take the signature as bytes
  n bigint not null,
  amount numeric(38, 0) not null, -- base units
  primary key (chain, hour, overload)
);

-- What each recipient was paid in all, and by whom.
create table settlement_total (
  recipient bytea not null,
  chain text not null,
  overload boolean not null,      -- of the selectors that take the signature as bytes
  last_at timestamptz not null,   -- time of the newest
  n bigint not null,
  amount numeric(38, 0) not null, -- base units
  primary key (recipient, chain, overload)
) with (fillfactor = 85);

create table settlement_payer (
  recipient bytea not null,
  payer bytea not null,
  chain text not null,
  overload boolean not null,
  last_at timestamptz not null,  -- time of the newest
  n bigint not null,
  amount numeric(38, 0) not null,
  first_at timestamptz not null, -- time of the oldest
  first_paid_at timestamptz,     -- time of the oldest with an amount: one of nothing makes nobody a payer; null: there is none
  primary key (recipient, payer, chain, overload)
) with (fillfactor = 85);
-- Whom an address has paid, for those who ask with `length(chain) > 0`, which every row has. Whoever knows the recipient too asks
-- without, and then only the key is left: to the planner both would cost the same where most payers paid one, and some paid
-- everybody. The condition is of a column that no update changes: one of a sum would be written into both indexes by each.
create index settlement_payer_payer on settlement_payer (payer) where length(chain) > 0;

-- Accounts whose facilitator is known by name. Those of the published list are brought here whenever a database is
-- migrated, those that a facilitator names itself when it is asked.
create table facilitator_sender (
  address bytea primary key,
  name text not null,
  source text not null -- the published list, or the host that named it
);

-- Accounts that facilitators name themselves, as each of them said last. Which of them are believed is in
-- facilitator_sender.
create table facilitator_signer (
  name text not null,
  address bytea not null,
  host text not null, -- that said so
  primary key (name, address)
);
create index facilitator_signer_address on facilitator_signer (address);

-- What everybody was paid through each sender.
create table facilitator_total (
  facilitator bytea not null,
  chain text not null,
  overload boolean not null,
  last_at timestamptz not null,
  n bigint not null,
  amount numeric(38, 0) not null, -- base units
  first_at timestamptz not null,
  primary key (facilitator, chain, overload)
);

-- Settlements of a recipient, a payer or a sender from a block on, nearest first: a cursor, which the caller closes.
create function settlements_along(of_chain text, role text, address bytea, block int, is_upwards boolean)
  returns refcursor language plpgsql stable set plan_cache_mode = force_generic_plan set enable_sort = off as $$
declare
  list refcursor;
begin
  case role when 'recipient' then
    if is_upwards then
      open list for select s.* from settlement s
        where s.chain = of_chain and s.recipient = address and s.block_number >= block order by s.block_number;
    else
      open list for select s.* from settlement s
        where s.chain = of_chain and s.recipient = address and s.block_number <= block order by s.block_number desc;
    end if;
  when 'payer' then
    if is_upwards then
      open list for select s.* from settlement s
        where s.chain = of_chain and s.payer = address and s.block_number >= block order by s.block_number;
    else
      open list for select s.* from settlement s
        where s.chain = of_chain and s.payer = address and s.block_number <= block order by s.block_number desc;
    end if;
  when 'facilitator' then
    if is_upwards then
      open list for select s.* from settlement s
        where s.chain = of_chain and s.facilitator = address and s.block_number >= block order by s.block_number;
    else
      open list for select s.* from settlement s
        where s.chain = of_chain and s.facilitator = address and s.block_number <= block order by s.block_number desc;
    end if;
  end case;
  return list;
end $$;

-- When a settlement goes that was the first or the last of a sum, its neighbour takes its place: the time of the nearest one
-- of the sum from the block and time on; null: there is none. The sum is of a recipient and a payer, or, with `received_by`
-- null, of a sender; `role` is payer or facilitator, and `other` that address. Either address of a pair may have millions of settlements with
-- others, so those of both are read, one of each in turn, until one is of the pair. `left_n` is how many settlements the
-- sum still has: when all of them are archived, the archive tells which is the last.
create function nearest_settlement(of_chain text, received_by bytea, role text, other bytea, as_overload boolean,
                                   with_amount boolean, left_n bigint, block int, at timestamptz, is_upwards boolean)
  returns timestamptz language plpgsql stable as $$
declare
  kept record;
  list refcursor;
  others refcursor;
  one settlement;
begin
  if not is_upwards and received_by is not null and exists (select from settlement_archive where chain = of_chain) then
    select sum(a.n) as n, max(a.last_at) as last_at
      into kept
      from settlement_archive_sum a
      join settlement_archive r on r.chain = a.chain and r.from_block = a.archive_block
     where a.chain = of_chain and a.recipient = received_by and a.overload = as_overload
       and other = case role when 'payer' then a.payer else a.facilitator end;
    if kept.n = left_n then
      return kept.last_at;
    end if;
  end if;
  -- Another one of the same second may be on either side of the block.
  list := case when received_by is null then settlements_along(of_chain, role, other, block, not is_upwards)
               else settlements_along(of_chain, 'recipient', received_by, block, not is_upwards) end;
  loop
    fetch list into one;
    exit when not found or one.block_timestamp <> at;
    block := one.block_number;
  end loop;
  close list;
  others := settlements_along(of_chain, role, other, block, is_upwards);
  if received_by is not null then
    list := settlements_along(of_chain, 'recipient', received_by, block, is_upwards);
  end if;
  for turn in 1 .. 2000000000 loop
    if turn % 2 = 0 then
      continue when received_by is null;
      fetch list into one;
    else
      fetch others into one;
    end if;
    exit when not found
           or other = case role when 'payer' then one.payer else one.facilitator end
              and one.recipient = coalesce(received_by, one.recipient)
              and as_overload <> (one.selector in ('\xe3ee160e', '\xef55bec6')) and (one.amount > 0 or not with_amount)
              and not exists (select from settlement_unrolled u
                               where u.chain = of_chain and one.block_number between u.from_block and u.to_block);
  end loop;
  close others;
  if received_by is not null then
    close list;
  end if;
  return one.block_timestamp;
end $$;

-- What addresses of agents were paid in the windows that rankings and totals are made of, derived address by address, a
-- minute late at most.
create table recipient_counts (
  address bytea primary key,
  last_24h bigint not null,
  last_7d bigint not null,
  last_30d bigint not null,
  ever bigint not null,
  newest_at timestamptz, -- time of the newest settlement; null: there is none
  unsummed boolean not null default false,  -- some are in blocks that are not rolled up
  overloads boolean not null default false, -- whether those who used an overload alone are counted too
  counted_at timestamptz not null default '-infinity' -- when it was written last
);

-- The settlements of some recipients that their sums say nothing about: those that are not rolled up, and, of each window,
-- those behind its beginning in the hour it begins in. A statement that names a table of a hundred partitions takes longer
-- to begin than to read; here each chain's are read at once, of the partitions of a range alone, and none where there is nothing
-- to look for. One plan for all values: it leaves the other partitions out when it begins, and planning each range would take
-- longer than reading it.
create function settlements_beside_sums(recipients bytea[], sinces timestamptz[], overloads boolean)
  returns table (recipient bytea, payer bytea, amount bigint, block_timestamp timestamptz,
                 since timestamptz) -- the beginning of the window it is of; null: not rolled up
  language plpgsql stable parallel safe set plan_cache_mode = force_generic_plan as $$
declare
  place record;
begin
  for place in select u.chain, u.from_block, u.to_block from settlement_unrolled u loop
    return query
    select one.address, s.payer, s.amount, s.block_timestamp, null::timestamptz
      from unnest(recipients) as one (address)
     cross join lateral (
       select s.payer, s.amount, s.block_timestamp
         from settlement s
        where s.chain = place.chain and s.recipient = one.address
          and s.block_number between place.from_block and place.to_block
          and (overloads or s.selector in ('\xe3ee160e', '\xef55bec6'))
       offset 0 -- each is looked up: the planner cannot know that the range is short
     ) s;
  end loop;
  for place in
    select w.since, h.chain, h.hour + interval '1 hour' as hour_end,
           min(h.first_block) as from_block, max(h.last_block) as to_block, array_agg(h.recipient) as recipients,
           array_agg(h.first_block) as firsts, array_agg(h.last_block) as lasts, array_agg(h.overload) as kinds
      from unnest(sinces) as w (since)
     cross join unnest(recipients) as one (address)
     cross join lateral (
       select * from settlement_hourly h
        where h.recipient = one.address and h.hour = date_trunc('hour', w.since, 'UTC') and (overloads or not h.overload)
       offset 0
     ) h
     group by w.since, h.chain, h.hour
  loop
    return query
    select h.recipient, s.payer, s.amount, s.block_timestamp, place.since
      from unnest(place.recipients, place.firsts, place.lasts, place.kinds) as h (recipient, first_block, last_block, overload)
     cross join lateral (
       select s.payer, s.amount, s.block_timestamp
         from settlement s
        where s.chain = place.chain and s.recipient = h.recipient
          and s.block_number between place.from_block and place.to_block
          and s.block_number between h.first_block and h.last_block
          and h.overload <> (s.selector in ('\xe3ee160e', '\xef55bec6'))
          and s.block_timestamp > place.since and s.block_timestamp < place.hour_end
          and not exists (select from settlement_unrolled u
                           where u.chain = place.chain and s.block_number between u.from_block and u.to_block)
       offset 0
     ) s;
  end loop;
end $$;
