-- Income of agents: what their addresses were paid, by what is known of the payer and of the sender. Written by the
-- enrichment job, hour by hour, from final blocks: beside settlements what forwarders passed on and what Permit2 proxies
-- paid.

-- Addresses whose payments are an agent's income: those that it verifies now, with all they ever received, and wallets
-- that the registrations it holds name, on the registration's chain and for as long as it names them.
create table income_address (
  fid bigint not null,
  address bytea not null,
  chain text not null,          -- empty: every chain
  from_at timestamptz not null, -- inclusive; -infinity: always
  to_at timestamptz not null,   -- exclusive; infinity: still
  primary key (fid, address, chain, from_at)
);
create index income_address_address on income_address (address);

-- Addresses that are or were the agent's own, as far as the directory can see: a payment from one is no income.
create table income_owner (
  fid bigint not null,
  address bytea not null,
  primary key (fid, address)
);

-- What such addresses were paid in an hour.
create table income_hour (
  fid bigint not null,
  hour timestamptz not null,         -- its beginning
  recipient bytea not null,
  chain text not null,
  kind text not null,                -- eip3009_vrs, eip3009_bytes, and those of payment
  flag text not null,                -- self, same_owner, or none: what the payer is to the agent
  x402 boolean not null,             -- sent by a known facilitator, or told by builder codes
  first_at timestamptz not null,     -- times of the oldest and the newest
  last_at timestamptz not null,
  n bigint not null,
  amount numeric(38, 0) not null,    -- base units
  dust_n bigint not null,            -- those of them below a thousandth of a dollar
  dust_amount numeric(38, 0) not null,
  -- An address that the money went through in the same transaction is another agent's, whose income it is too. In sums over
  -- all agents it is left out, so that money that came in once is there once.
  passed_on boolean not null default false,
  other_n bigint not null default 0, -- payments in tokens without a dollar figure, with nothing in the amounts
  primary key (fid, hour, recipient, chain, kind, flag, x402, passed_on)
);
create index income_hour_recipient on income_hour (recipient, chain, hour);

-- The same over all agents, kept by whatever moves it.
create table income_total (
  chain text not null,
  kind text not null,
  flag text not null,
  x402 boolean not null,
  n bigint not null,
  amount numeric(38, 0) not null,
  dust_n bigint not null,
  dust_amount numeric(38, 0) not null,
  other_n bigint not null default 0,
  primary key (chain, kind, flag, x402)
);

create function sum_income() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into income_total as t (chain, kind, flag, x402, n, amount, dust_n, dust_amount, other_n)
    select chain, kind, flag, x402, sum(n), sum(amount), sum(dust_n), sum(dust_amount), sum(other_n) from added
     where not passed_on
     group by 1, 2, 3, 4 order by 1, 2, 3, 4
        on conflict (chain, kind, flag, x402) do update
       set n = t.n + excluded.n, amount = t.amount + excluded.amount, dust_n = t.dust_n + excluded.dust_n,
           dust_amount = t.dust_amount + excluded.dust_amount, other_n = t.other_n + excluded.other_n;
  elsif tg_op = 'UPDATE' then
    insert into income_total as t (chain, kind, flag, x402, n, amount, dust_n, dust_amount, other_n)
    select chain, kind, flag, x402, sum(n), sum(amount), sum(dust_n), sum(dust_amount), sum(other_n)
      from (select chain, kind, flag, x402, n, amount, dust_n, dust_amount, other_n from added where not passed_on
             union all
            select chain, kind, flag, x402, -n, -amount, -dust_n, -dust_amount, -other_n from removed
             where not passed_on) moved
     group by 1, 2, 3, 4 order by 1, 2, 3, 4
        on conflict (chain, kind, flag, x402) do update
       set n = t.n + excluded.n, amount = t.amount + excluded.amount, dust_n = t.dust_n + excluded.dust_n,
           dust_amount = t.dust_amount + excluded.dust_amount, other_n = t.other_n + excluded.other_n;
  else
    insert into income_total as t (chain, kind, flag, x402, n, amount, dust_n, dust_amount, other_n)
    select chain, kind, flag, x402, -sum(n), -sum(amount), -sum(dust_n), -sum(dust_amount), -sum(other_n) from removed
     where not passed_on
     group by 1, 2, 3, 4 order by 1, 2, 3, 4
        on conflict (chain, kind, flag, x402) do update
       set n = t.n + excluded.n, amount = t.amount + excluded.amount, dust_n = t.dust_n + excluded.dust_n,
           dust_amount = t.dust_amount + excluded.dust_amount, other_n = t.other_n + excluded.other_n;
  end if;
  return null;
end $$;
create trigger income_hour_added after insert on income_hour
  referencing new table as added for each statement execute function sum_income();
create trigger income_hour_changed after update on income_hour
  referencing old table as removed new table as added for each statement execute function sum_income();
create trigger income_hour_removed after delete on income_hour
  referencing old table as removed for each statement execute function sum_income();

-- What each agent was paid without what it paid itself, kept by whatever moves its hours.
create table income_agent (
  fid bigint not null,
  chain text not null,
  n bigint not null,
  amount numeric(38, 0) not null, -- base units
  primary key (fid, chain)
);

create function sum_agent_income() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into income_agent as t (fid, chain, n, amount)
    select fid, chain, sum(n), sum(amount) from added where flag = 'none' group by 1, 2 order by 1, 2
        on conflict (fid, chain) do update set n = t.n + excluded.n, amount = t.amount + excluded.amount;
  elsif tg_op = 'UPDATE' then
    insert into income_agent as t (fid, chain, n, amount)
    select fid, chain, sum(n), sum(amount)
      from (select fid, chain, n, amount from added where flag = 'none'
             union all
            select fid, chain, -n, -amount from removed where flag = 'none') moved
     group by 1, 2 order by 1, 2
        on conflict (fid, chain) do update set n = t.n + excluded.n, amount = t.amount + excluded.amount;
  else
    insert into income_agent as t (fid, chain, n, amount)
    select fid, chain, -sum(n), -sum(amount) from removed where flag = 'none' group by 1, 2 order by 1, 2
        on conflict (fid, chain) do update set n = t.n + excluded.n, amount = t.amount + excluded.amount;
  end if;
  return null;
end $$;
create trigger income_hour_agent_added after insert on income_hour
  referencing new table as added for each statement execute function sum_agent_income();
create trigger income_hour_agent_changed after update on income_hour
  referencing old table as removed new table as added for each statement execute function sum_agent_income();
create trigger income_hour_agent_removed after delete on income_hour
  referencing old table as removed for each statement execute function sum_agent_income();

-- Hours of such addresses that are to be summed up anew.
create table income_due (
  recipient bytea not null,
  chain text not null,
  hour timestamptz not null,
  primary key (recipient, chain, hour)
);

-- An hour that is due already is written once more: whoever sums it up meanwhile would take the note away without having
-- seen why it was made again.
create function note_income_hours() returns trigger language plpgsql as $$
begin
  execute format($planned$
    insert into income_due (recipient, chain, hour)
    select distinct recipient, chain, hour from %I moved
     where exists (select from income_address a where a.address = moved.recipient)
     order by 1, 2, 3 on conflict (recipient, chain, hour) do update set hour = excluded.hour
  $planned$, case tg_op when 'DELETE' then 'removed' else 'added' end);
  return null;
end $$;
create trigger settlement_hourly_income_added after insert on settlement_hourly
  referencing new table as added for each statement execute function note_income_hours();
create trigger settlement_hourly_income_changed after update on settlement_hourly
  referencing new table as added for each statement execute function note_income_hours();
create trigger settlement_hourly_income_removed after delete on settlement_hourly
  referencing old table as removed for each statement execute function note_income_hours();

-- Who sent settlements in the hours that are summed up, and from when to when, for the trigger below.
create table income_sender (
  facilitator bytea not null,
  recipient bytea not null,
  chain text not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (facilitator, recipient, chain)
);

-- Who is a facilitator decides what is evidence: an account that gets or loses a name moves the hours it sent in. Whoever
-- sums hours up holds this lock from before it reads the names until it has committed who sent in them.
create function note_facilitator_hours() returns trigger language plpgsql as $$
begin
  lock table income_sender in share mode;
  insert into income_due (recipient, chain, hour)
  select recipient, chain, hour
    from (select h.recipient, h.chain, h.hour
            from moved
            join income_sender f on f.facilitator = moved.address
            join settlement_hourly h on h.recipient = f.recipient and h.chain = f.chain
                                    and h.hour >= date_trunc('hour', f.first_at, 'UTC') and h.hour <= f.last_at
           union
          select p.payee, p.chain, date_trunc('hour', p.block_timestamp, 'UTC')
            from moved
            join payment p on p.facilitator = moved.address and p.kind = 'forwarded') hours
   where exists (select from income_address a where a.address = hours.recipient)
   order by 1, 2, 3 on conflict (recipient, chain, hour) do update set hour = excluded.hour;
  return null;
end $$;
create trigger facilitator_sender_added after insert on facilitator_sender
  referencing new table as moved for each statement execute function note_facilitator_hours();
create trigger facilitator_sender_removed after delete on facilitator_sender
  referencing old table as moved for each statement execute function note_facilitator_hours();

-- A builder code is evidence of x402, so hours that are summed up are summed up anew; under the lock of the roll-up.
create function note_builder_codes() returns trigger language plpgsql as $$
begin
  insert into income_due (recipient, chain, hour)
  with rolled as materialized (
    select chain, block_number, log_index from moved
     where not exists (select from settlement_unrolled u
                        where u.chain = moved.chain and moved.block_number between u.from_block and u.to_block)
  )
  select recipient, chain, hour
    from (select s.recipient, s.chain, date_trunc('hour', s.block_timestamp, 'UTC') as hour
            from rolled
            join settlement s using (chain, block_number, log_index)
           union
          select p.payee, p.chain, date_trunc('hour', p.block_timestamp, 'UTC')
            from rolled
            join payment p using (chain, block_number, log_index)) hours
   where exists (select from income_address a where a.address = hours.recipient)
   order by 1, 2, 3 on conflict (recipient, chain, hour) do update set hour = excluded.hour;
  return null;
end $$;
create trigger builder_code_added after insert on builder_code
  referencing new table as moved for each statement execute function note_builder_codes();
create trigger builder_code_removed after delete on builder_code
  referencing old table as moved for each statement execute function note_builder_codes();
