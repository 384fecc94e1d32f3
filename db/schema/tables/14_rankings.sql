-- Rankings of agents by what they were paid, as the enrichment job counted them in its last round, and as they were when
-- each of the last days began.

-- The rounds: one row a UTC day, of its first round and its last.
create table ranking_round (
  day date primary key,
  taken_at timestamptz not null,  -- of the first: what ranking_day has of the day
  counted_at timestamptz not null -- of the last
);

create table ranking (
  period text not null,
  measure text not null,                    -- settlements, volume or payers
  chain text not null,                      -- empty: all of them
  own boolean not null,                     -- whether payments from the agent's own addresses count
  rank int not null,
  fid bigint not null,
  settlements bigint not null,
  volume numeric(38, 0) not null,           -- base units
  payers bigint not null,
  newest_at timestamptz,                    -- time of the newest settlement that counts, of any time; null: it earned without one
  income_n bigint not null default 0,
  income numeric(38, 0) not null default 0, -- base units
  primary key (period, measure, chain, own, rank)
);

create table ranking_day (
  day date not null,
  period text not null,
  measure text not null,
  chain text not null,
  own boolean not null,
  fid bigint not null,
  rank int not null,
  primary key (day, period, measure, chain, own, fid)
);

-- What each agent was paid in the windows that rankings are made of, of what is rolled up: derived agent by agent. Amounts
-- in base units.
create table agent_figure (
  fid bigint not null,
  chain text not null,    -- empty: all of them
  own boolean not null,   -- whether payments from the agent's own addresses count
  newest_at timestamptz,  -- time of the newest settlement that counts, of any time; null: it earned without one
  last_7d bigint not null,
  last_7d_amount numeric(38, 0) not null,
  last_30d bigint not null,
  last_30d_amount numeric(38, 0) not null,
  ever bigint not null,
  ever_amount numeric(38, 0) not null,
  last_7d_payers bigint not null,
  last_30d_payers bigint not null,
  ever_payers bigint not null,
  earned_last_7d bigint not null,
  earned_last_7d_amount numeric(38, 0) not null,
  earned_last_30d bigint not null,
  earned_last_30d_amount numeric(38, 0) not null,
  earned_ever bigint not null,
  earned_ever_amount numeric(38, 0) not null,
  primary key (fid, chain, own)
) with (fillfactor = 85);

-- What the next two are kept for: agents by the addresses they had when counting their payers began.
create table figure_derivation (
  fid bigint primary key,
  addresses bytea[] not null,
  overloads boolean not null, -- whether those who used an overload alone are counted too
  counted boolean not null    -- false: agent_payer_hour has nothing of it yet
);

-- How many paid an agent last in an hour, of what is rolled up: how many paid in a window is their sum. So an agent with
-- millions of payers moves by those who paid again, and by none when an hour leaves a window.
create table agent_payer_hour (
  fid bigint not null,
  chain text not null,       -- empty: all of them
  hour timestamptz not null, -- its beginning
  payers bigint not null,
  primary key (fid, chain, hour)
) with (fillfactor = 85);

-- Pairs with such an agent that came or changed since: when the pair had last paid before. What is in settlement_payer
-- with these taken back is what agent_payer_hour was made of. Only appended by who moves sums, and deleted by who derives.
create table payer_move (
  seq bigint generated always as identity primary key,
  fid bigint not null,
  recipient bytea not null,
  payer bytea not null,
  chain text not null,
  overload boolean not null,
  before timestamptz,   -- null: the pair is new
  back boolean not null -- it went, or last paid earlier than before: the agent is counted again
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);
create index payer_move_fid on payer_move (fid);

create function note_payer_moves() returns trigger language plpgsql as $$
begin
  execute format($planned$
    insert into payer_move (fid, recipient, payer, chain, overload, before, back)
    select d.fid, moved.recipient, moved.payer, moved.chain, moved.overload, moved.before, moved.back
      from (%s) moved
      join verified_address v on v.address = moved.recipient and v.ended_at is null
      join figure_derivation d on d.fid = v.fid
  $planned$, case tg_op
    when 'INSERT' then 'select recipient, payer, chain, overload, null::timestamptz as before, false as back from added'
    when 'DELETE' then 'select recipient, payer, chain, overload, last_at as before, true as back from removed'
    else 'select recipient, payer, chain, overload, r.last_at as before, a.last_at < r.last_at as back
            from added a join removed r using (recipient, payer, chain, overload)
           where a.last_at <> r.last_at' end);
  return null;
end $$;
create trigger payer_moves_added after insert on settlement_payer
  referencing new table as added for each statement execute function note_payer_moves();
create trigger payer_moves_changed after update on settlement_payer
  referencing old table as removed new table as added for each statement execute function note_payer_moves();
create trigger payer_moves_removed after delete on settlement_payer
  referencing old table as removed for each statement execute function note_payer_moves();

-- How many paid in a day, week or month that is over, and the amount in the middle, of those paid so often that nobody
-- can be made to wait while it is counted: as the enrichment job counted it. It holds for so many settlements alone.
create table series_payers (
  fid bigint not null,        -- 0: everybody
  chain text not null,        -- empty: all
  length text not null check (length in ('day', 'week', 'month')),
  start timestamptz not null,
  overloads boolean not null, -- whether those who used an overload alone are counted too
  addresses bytea[] not null, -- of the agent; of everybody none
  settlements bigint not null,
  payers bigint not null,
  median numeric not null,
  primary key (fid, chain, length, start)
);

-- The point of a series that is being counted in slices, because one statement would read too many settlements: a row for each
-- range of blocks that is left to read. Not logged, like what was collected so far: after a crash all three are empty.
create unlogged table series_count (
  fid bigint not null,
  chain text not null,
  length text not null,
  start timestamptz not null,
  until timestamptz not null,
  overloads boolean not null,
  addresses bytea[] not null,
  of_chain text not null,
  of_address bytea,         -- null: of everybody
  next_block int not null,
  to_block int not null,    -- inclusive
  unique nulls not distinct (of_chain, of_address)
);
create unlogged table series_count_payer (payer bytea primary key);
create unlogged table series_count_amount (amount bigint primary key, n bigint not null);

-- Sums over the whole directory, kept in many small parts so that nobody reads all of it to tell them. Who changes a row
-- appends a mark for its part and waits for nobody; a part with a mark, or without a sum, is counted from its rows by
-- whoever asks, and stored by the enrichment job. So sums are always those of the rows that are seen with them, and
-- deleting them has them counted again.

-- Marks: parts whose sums may not be those of their rows.
create table directory_moved (
  kind text not null,             -- agents, addresses or supply
  chain text not null default '', -- of supply
  part int not null
);

create table agent_sum (
  part int primary key,       -- of FIDs: agent_part
  total bigint not null,
  claimed bigint not null,
  cross_chain bigint not null -- with current records on two chains and more
);

create table address_sum (
  part int primary key,     -- of addresses: address_part
  held bigint not null,     -- verified by an agent, or once holders of an identity
  last_24h bigint not null, -- settlements of those that an agent verifies, as recipient_counts has them
  last_7d bigint not null,
  last_30d bigint not null,
  ever bigint not null
);

create table supply_sum (
  chain text not null,
  part int not null, -- of identities: token_part
  n bigint not null, -- not burned
  primary key (chain, part)
);

-- Parts are ranges, so that the indexes that are there lead to their rows; the last one has all that is beyond.
create function agent_part(fid bigint) returns int language sql immutable parallel safe
  return least(fid / 512, 4095)::int;

create function token_part(agent_id numeric) returns int language sql immutable parallel safe
  return least(div(agent_id, 1024), 511)::int;

create function address_part(address bytea) returns int language sql immutable parallel safe
  return (get_byte(address || '\x0000', 0) << 4) + (get_byte(address || '\x0000', 1) >> 4);

-- The first address of a part; of the one behind the last, what no address is beyond.
create function address_part_start(part int) returns bytea language sql immutable parallel safe
  return case when part = 0 then '\x'::bytea
              when part > 4095 then decode(repeat('ff', 33), 'hex')
              when part % 16 = 0 then decode(lpad(to_hex(part >> 4), 2, '0'), 'hex')
              else decode(lpad(to_hex(part << 4), 4, '0'), 'hex') end;

create function note_agent_sums() returns trigger language plpgsql as $$
begin
  insert into directory_moved (kind, part) select distinct 'agents', agent_part(fid) from moved;
  insert into directory_moved (kind, part)
  select distinct 'addresses', address_part(address) from moved cross join unnest(verified_addresses) as address;
  return null;
end $$;
create trigger agent_sum_added after insert on agent
  referencing new table as moved for each statement execute function note_agent_sums();
create trigger agent_sum_removed after delete on agent
  referencing old table as moved for each statement execute function note_agent_sums();

-- A row each: most updates are of counts, a thousand agents at once, and move no sum.
create function note_agent_sum_moved() returns trigger language plpgsql as $$
begin
  insert into directory_moved (kind, part) values ('agents', agent_part(new.fid));
  insert into directory_moved (kind, part)
  select distinct 'addresses', address_part(address)
    from unnest(old.verified_addresses || new.verified_addresses) as address
   where new.verified_addresses <> old.verified_addresses;
  return null;
end $$;
create trigger agent_sum_moved after update of claimed, chains, verified_addresses on agent
  for each row when (new.claimed <> old.claimed or new.chains <> old.chains
                     or new.verified_addresses <> old.verified_addresses)
  execute function note_agent_sum_moved();

create function note_count_sums() returns trigger language plpgsql as $$
begin
  insert into directory_moved (kind, part) select distinct 'addresses', address_part(address) from moved;
  return null;
end $$;
create trigger recipient_counts_sum_added after insert on recipient_counts
  referencing new table as moved for each statement execute function note_count_sums();
create trigger recipient_counts_sum_moved after update on recipient_counts
  referencing new table as moved for each statement execute function note_count_sums();
create trigger recipient_counts_sum_removed after delete on recipient_counts
  referencing old table as moved for each statement execute function note_count_sums();

create function note_holder_sums() returns trigger language plpgsql as $$
begin
  insert into directory_moved (kind, part)
  select distinct 'addresses', address_part("to") from moved where "to" is not null;
  return null;
end $$;
create trigger registration_transfer_sum_added after insert on registration_transfer
  referencing new table as moved for each statement execute function note_holder_sums();
create trigger registration_transfer_sum_removed after delete on registration_transfer
  referencing old table as moved for each statement execute function note_holder_sums();

create function note_holder_sum_moved() returns trigger language plpgsql as $$
begin
  insert into directory_moved (kind, part)
  select 'addresses', address_part(address) from unnest(array[old."to", new."to"]) as address where address is not null;
  return null;
end $$;
create trigger registration_transfer_sum_moved after update of "to" on registration_transfer
  for each row when (new."to" is distinct from old."to") execute function note_holder_sum_moved();

create function note_supply_sums() returns trigger language plpgsql as $$
begin
  insert into directory_moved (kind, chain, part) select distinct 'supply', chain, token_part(agent_id) from moved;
  return null;
end $$;
create trigger registration_sum_added after insert on registration
  referencing new table as moved for each statement execute function note_supply_sums();
create trigger registration_sum_removed after delete on registration
  referencing old table as moved for each statement execute function note_supply_sums();

create function note_supply_sum_moved() returns trigger language plpgsql as $$
begin
  insert into directory_moved (kind, chain, part) values ('supply', new.chain, token_part(new.agent_id));
  return null;
end $$;
create trigger registration_sum_moved after update of burned on registration
  for each row when (new.burned <> old.burned) execute function note_supply_sum_moved();

-- Of tables that are emptied at once, no sum is any.
create function forget_directory_sums() returns trigger language plpgsql as $$
begin
  delete from agent_sum;
  delete from address_sum;
  delete from supply_sum;
  return null;
end $$;
create trigger agent_sum_emptied after truncate on agent for each statement execute function forget_directory_sums();
create trigger recipient_counts_sum_emptied after truncate on recipient_counts
  for each statement execute function forget_directory_sums();
create trigger registration_transfer_sum_emptied after truncate on registration_transfer
  for each statement execute function forget_directory_sums();
create trigger registration_sum_emptied after truncate on registration
  for each statement execute function forget_directory_sums();
