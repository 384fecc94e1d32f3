-- Sums of the settlements of final blocks, so that an agent with millions of them is counted from a few rows. Written by
-- the enrichment job, all of them in the transaction that moves the mark; they hold everything but `settlement_unrolled`.

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
  if coalesce(current_setting('directory.sums', true), '') <> 'hours, totals, payers, senders, first payments' then
    raise exception 'this program does not keep the sums of settlements that this database has; update it';
  end if;
  return new;
end $$;
create trigger settlement_rollup_moved before update on settlement_rollup
  for each row execute function refuse_other_sums();
create trigger settlement_rollup_backfill_moved before insert or update on settlement_rollup_backfill
  for each row execute function refuse_other_sums();

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
-- Rankings and totals of the last days read the hours of all recipients.
create index settlement_hourly_hour on settlement_hourly (hour);

-- What everybody was paid in an hour: the sums of settlement_hourly over its recipients, kept by whatever moves them.
create table settlement_hour_total (
  chain text not null,
  hour timestamptz not null,      -- its beginning
  overload boolean not null,      -- of the selectors that take the signature as bytes
  n bigint not null,
  amount numeric(38, 0) not null, -- base units
  primary key (chain, hour, overload)
);

create function sum_hours() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into settlement_hour_total as t (chain, hour, overload, n, amount)
    select chain, hour, overload, sum(n), sum(amount) from added group by 1, 2, 3 order by 1, 2, 3
        on conflict (chain, hour, overload) do update set n = t.n + excluded.n, amount = t.amount + excluded.amount;
  elsif tg_op = 'TRUNCATE' then
    truncate settlement_hour_total;
  elsif tg_op = 'UPDATE' then
    insert into settlement_hour_total as t (chain, hour, overload, n, amount)
    select chain, hour, overload, sum(n), sum(amount)
      from (select chain, hour, overload, n, amount from added
             union all
            select chain, hour, overload, -n, -amount from removed) moved
     group by 1, 2, 3 order by 1, 2, 3
        on conflict (chain, hour, overload) do update set n = t.n + excluded.n, amount = t.amount + excluded.amount;
  else
    insert into settlement_hour_total as t (chain, hour, overload, n, amount)
    select chain, hour, overload, -sum(n), -sum(amount) from removed group by 1, 2, 3 order by 1, 2, 3
        on conflict (chain, hour, overload) do update set n = t.n + excluded.n, amount = t.amount + excluded.amount;
  end if;
  return null;
end $$;
create trigger settlement_hourly_added after insert on settlement_hourly
  referencing new table as added for each statement execute function sum_hours();
create trigger settlement_hourly_changed after update on settlement_hourly
  referencing old table as removed new table as added for each statement execute function sum_hours();
create trigger settlement_hourly_removed after delete on settlement_hourly
  referencing old table as removed for each statement execute function sum_hours();
create trigger settlement_hourly_emptied after truncate on settlement_hourly
  for each statement execute function sum_hours();

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
  -- A settlement of nothing makes nobody a payer: when the first one with an amount was. Null, with an amount in all: not
  -- known, the row was last summed up before this column was there; then `first_at` stands for it.
  first_paid_at timestamptz,
  primary key (recipient, payer, chain, overload)
) with (fillfactor = 85);
-- Whom an address that has just been verified has paid.
create index settlement_payer_payer on settlement_payer (payer);

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

-- What each recipient was paid through each sender, summed up with the hours, totals and payers.
create table settlement_facilitator (
  recipient bytea not null,
  facilitator bytea not null,
  chain text not null,
  overload boolean not null,      -- of the selectors that take the signature as bytes
  last_at timestamptz not null,   -- time of the newest
  n bigint not null,
  amount numeric(38, 0) not null, -- base units
  first_at timestamptz not null,  -- time of the oldest
  primary key (recipient, facilitator, chain, overload)
) with (fillfactor = 85);
create index settlement_facilitator_sender on settlement_facilitator (facilitator);

-- The same over all recipients, kept by whatever moves it.
create table facilitator_total (
  facilitator bytea not null,
  chain text not null,
  overload boolean not null,
  last_at timestamptz,            -- null: n is 0
  n bigint not null,
  amount numeric(38, 0) not null, -- base units
  first_at timestamptz,
  primary key (facilitator, chain, overload)
);

-- Whoever sums facilitators up meets few moved rows at a time for days, and then a million of a loaded range, in one
-- session and by one plan: what was and what is are therefore put together by grouping, never by a join of the two.
create function sum_facilitators() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into facilitator_total as t (facilitator, chain, overload, first_at, last_at, n, amount)
    select facilitator, chain, overload, min(first_at), max(last_at), sum(n), sum(amount) from added
     group by 1, 2, 3 order by 1, 2, 3
        on conflict (facilitator, chain, overload) do update
       set first_at = least(t.first_at, excluded.first_at), last_at = greatest(t.last_at, excluded.last_at),
           n = t.n + excluded.n, amount = t.amount + excluded.amount;
  elsif tg_op = 'TRUNCATE' then
    truncate facilitator_total;
  elsif tg_op = 'UPDATE' then
    update facilitator_total t
       set first_at = least(t.first_at, moved.first_at), last_at = greatest(t.last_at, moved.last_at),
           n = t.n + moved.n, amount = t.amount + moved.amount
      from (select facilitator, chain, overload, min(first_at) as first_at, max(last_at) as last_at,
                   sum(n) as n, sum(amount) as amount
              from (select facilitator, chain, overload, first_at, last_at, n, amount from added
                     union all
                    select facilitator, chain, overload, null, null, -n, -amount from removed) part
             group by 1, 2, 3) moved
     where (t.facilitator, t.chain, t.overload) = (moved.facilitator, moved.chain, moved.overload);
    -- An end that moved inwards is looked for among what is left.
    perform refit_facilitators(array(
      select distinct facilitator
        from (select facilitator
                from (select recipient, facilitator, chain, overload, first_at, last_at,
                             null::timestamptz as first_was, null::timestamptz as last_was from added
                       union all
                      select recipient, facilitator, chain, overload, null, null, first_at, last_at from removed) part
               group by recipient, facilitator, chain, overload
              having min(first_at) > min(first_was) or max(last_at) < max(last_was)) inwards));
  else
    update facilitator_total t
       set n = t.n - gone.n, amount = t.amount - gone.amount
      from (select facilitator, chain, overload, sum(n) as n, sum(amount) as amount from removed group by 1, 2, 3) gone
     where (t.facilitator, t.chain, t.overload) = (gone.facilitator, gone.chain, gone.overload);
    perform refit_facilitators(array(select distinct facilitator from removed));
  end if;
  return null;
end $$;
create trigger settlement_facilitator_added after insert on settlement_facilitator
  referencing new table as added for each statement execute function sum_facilitators();
create trigger settlement_facilitator_changed after update on settlement_facilitator
  referencing old table as removed new table as added for each statement execute function sum_facilitators();
create trigger settlement_facilitator_removed after delete on settlement_facilitator
  referencing old table as removed for each statement execute function sum_facilitators();
create trigger settlement_facilitator_emptied after truncate on settlement_facilitator
  for each statement execute function sum_facilitators();

-- Makes the oldest and newest time of some senders what their rows say.
create function refit_facilitators(senders bytea[]) returns void language sql as $$
  update facilitator_total t
     set first_at = found.first_at, last_at = found.last_at
    from (select t.facilitator, t.chain, t.overload, min(s.first_at) as first_at, max(s.last_at) as last_at
            from facilitator_total t
            left join settlement_facilitator s using (facilitator, chain, overload)
           where t.facilitator = any (senders)
           group by 1, 2, 3) found
   where (t.facilitator, t.chain, t.overload) = (found.facilitator, found.chain, found.overload)
     and (t.first_at, t.last_at) is distinct from (found.first_at, found.last_at)
$$;

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
  newest_at timestamptz -- time of the newest settlement; null: there is none
);

-- What a count of some recipients' settlements needs besides totals and hours: those that are not rolled up, and the rest
-- of the hour that the window begins in. A statement that names a table of a hundred partitions takes longer to begin than
-- to read; here only the partitions of a range are opened, and none where there is nothing to look for. One plan for all
-- values: it leaves the other partitions out when it begins, and planning each range would take longer than reading it.
create function settlements_beside_sums(recipients bytea[], since timestamptz, overloads boolean,
                                        out recent bigint, out ever bigint, out newest_at timestamptz)
  language plpgsql stable parallel safe set plan_cache_mode = force_generic_plan as $$
declare
  place record;
  part record;
begin
  recent := 0;
  ever := 0;
  for place in select u.chain, u.from_block, u.to_block from settlement_unrolled u loop
    select count(*) filter (where s.block_timestamp > since) as recent, count(*) as ever, max(s.block_timestamp) as newest_at
      into part
      from settlement s
     where s.chain = place.chain and s.recipient = any (recipients)
       and s.block_number between place.from_block and place.to_block
       and (overloads or s.selector in ('\xe3ee160e', '\xef55bec6'));
    recent := recent + part.recent;
    ever := ever + part.ever;
    newest_at := greatest(newest_at, part.newest_at);
  end loop;
  for place in
    select h.* from settlement_hourly h
     where h.recipient = any (recipients) and h.hour = date_trunc('hour', since, 'UTC') and (overloads or not h.overload)
  loop
    select count(*) as recent
      into part
      from settlement s
     where s.chain = place.chain and s.recipient = place.recipient
       and s.block_number between place.first_block and place.last_block
       and place.overload <> (s.selector in ('\xe3ee160e', '\xef55bec6'))
       and s.block_timestamp > since and s.block_timestamp < place.hour + interval '1 hour'
       and not exists (select from settlement_unrolled u
                        where u.chain = place.chain and s.block_number between u.from_block and u.to_block);
    recent := recent + part.recent;
  end loop;
end $$;

-- The settlements of some recipients that their sums say nothing about: those that are not rolled up, and, of each window,
-- those behind its beginning in the hour it begins in. A statement that names a table of a hundred partitions takes longer
-- to begin than to read; here each chain's are read at once, of the partitions of a range alone. One plan for all values, as
-- of `settlements_beside_sums`, which counts such settlements where nobody asks who paid.
create function settlements_beside_windows(recipients bytea[], sinces timestamptz[], overloads boolean)
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
