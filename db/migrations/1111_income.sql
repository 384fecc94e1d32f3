-- Income of agents: what their addresses were paid, by what is known of the payer and of the sender. Written by the
-- enrichment job, hour by hour, from settlements of final blocks.

-- Addresses whose payments are an agent's income: those that it verifies now, with all they ever received, and wallets
-- that the registrations it holds name, on the registration's chain and for as long as it names them.
create table income_address (
  fid bigint not null,
  address bytea not null,
  chain text not null,                   -- empty: every chain
  from_at timestamptz not null,          -- inclusive; -infinity: always
  to_at timestamptz not null,            -- exclusive; infinity: still
  primary key (fid, address, chain, from_at)
);
create index income_address_address on income_address (address);

-- Addresses that are or were the agent's own, as far as the directory can see: a payment from one is no income.
create table income_owner (
  fid bigint not null,
  address bytea not null,
  primary key (fid, address)
);

-- The newest change of an agent that the two tables above have followed.
create table income_progress (
  change bigint not null
);
insert into income_progress (change) values (0);

-- What they were paid in an hour.
create table income_hour (
  fid bigint not null,
  hour timestamptz not null,             -- its beginning
  recipient bytea not null,
  chain text not null,
  kind text not null,                    -- eip3009_vrs, eip3009_bytes
  flag text not null,                    -- self, same_owner, or none: what the payer is to the agent
  x402 boolean not null,                 -- sent by a known facilitator
  first_at timestamptz not null,         -- times of the oldest and the newest
  last_at timestamptz not null,
  n bigint not null,
  amount numeric(38, 0) not null,        -- base units
  dust_n bigint not null,                -- those of them below a thousandth of a dollar
  dust_amount numeric(38, 0) not null,
  primary key (fid, hour, recipient, chain, kind, flag, x402)
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
  primary key (chain, kind, flag, x402)
);

create function sum_income() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into income_total as t (chain, kind, flag, x402, n, amount, dust_n, dust_amount)
    select chain, kind, flag, x402, sum(n), sum(amount), sum(dust_n), sum(dust_amount) from added
     group by 1, 2, 3, 4 order by 1, 2, 3, 4
        on conflict (chain, kind, flag, x402) do update
       set n = t.n + excluded.n, amount = t.amount + excluded.amount,
           dust_n = t.dust_n + excluded.dust_n, dust_amount = t.dust_amount + excluded.dust_amount;
  elsif tg_op = 'UPDATE' then
    insert into income_total as t (chain, kind, flag, x402, n, amount, dust_n, dust_amount)
    select chain, kind, flag, x402, sum(n), sum(amount), sum(dust_n), sum(dust_amount)
      from (select chain, kind, flag, x402, n, amount, dust_n, dust_amount from added
             union all
            select chain, kind, flag, x402, -n, -amount, -dust_n, -dust_amount from removed) moved
     group by 1, 2, 3, 4 order by 1, 2, 3, 4
        on conflict (chain, kind, flag, x402) do update
       set n = t.n + excluded.n, amount = t.amount + excluded.amount,
           dust_n = t.dust_n + excluded.dust_n, dust_amount = t.dust_amount + excluded.dust_amount;
  else
    insert into income_total as t (chain, kind, flag, x402, n, amount, dust_n, dust_amount)
    select chain, kind, flag, x402, -sum(n), -sum(amount), -sum(dust_n), -sum(dust_amount) from removed
     group by 1, 2, 3, 4 order by 1, 2, 3, 4
        on conflict (chain, kind, flag, x402) do update
       set n = t.n + excluded.n, amount = t.amount + excluded.amount,
           dust_n = t.dust_n + excluded.dust_n, dust_amount = t.dust_amount + excluded.dust_amount;
  end if;
  return null;
end $$;
create trigger income_hour_added after insert on income_hour
  referencing new table as added for each statement execute function sum_income();
create trigger income_hour_changed after update on income_hour
  referencing old table as removed new table as added for each statement execute function sum_income();
create trigger income_hour_removed after delete on income_hour
  referencing old table as removed for each statement execute function sum_income();

-- Hours of such addresses that are to be summed up anew.
create table income_due (
  recipient bytea not null,
  chain text not null,
  hour timestamptz not null,
  primary key (recipient, chain, hour)
);

-- Whatever moves the settlements of an hour moves its income.
create function note_income_hours() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    insert into income_due (recipient, chain, hour)
    select distinct recipient, chain, hour from removed
     where exists (select from income_address a where a.address = removed.recipient)
     order by 1, 2, 3 on conflict do nothing;
  else
    insert into income_due (recipient, chain, hour)
    select distinct recipient, chain, hour from added
     where exists (select from income_address a where a.address = added.recipient)
     order by 1, 2, 3 on conflict do nothing;
  end if;
  return null;
end $$;
create trigger settlement_hourly_income_added after insert on settlement_hourly
  referencing new table as added for each statement execute function note_income_hours();
create trigger settlement_hourly_income_changed after update on settlement_hourly
  referencing new table as added for each statement execute function note_income_hours();
create trigger settlement_hourly_income_removed after delete on settlement_hourly
  referencing old table as removed for each statement execute function note_income_hours();

-- Who is a facilitator decides what is evidence: an account that gets or loses a name moves the hours it sent in.
create function note_facilitator_hours() returns trigger language plpgsql as $$
begin
  insert into income_due (recipient, chain, hour)
  select distinct h.recipient, h.chain, h.hour
    from moved
    join settlement_facilitator f on f.facilitator = moved.address
    join settlement_hourly h on h.recipient = f.recipient and h.chain = f.chain and h.overload = f.overload
                            and h.hour >= date_trunc('hour', f.first_at, 'UTC') and h.hour <= f.last_at
   where exists (select from income_address a where a.address = h.recipient)
   order by 1, 2, 3 on conflict do nothing;
  return null;
end $$;
create trigger facilitator_sender_added after insert on facilitator_sender
  referencing new table as moved for each statement execute function note_facilitator_hours();
create trigger facilitator_sender_removed after delete on facilitator_sender
  referencing old table as moved for each statement execute function note_facilitator_hours();

create view directory.income as
select i.fid, i.hour, i.chain, '0x' || encode(i.recipient, 'hex') as recipient_address, i.kind, i.flag,
       i.flag = 'none' as filtered, i.x402, i.n as payments, i.amount * 0.000001 as amount_usdc,
       i.dust_n as dust_payments, i.first_at as first_paid_at, i.last_at as last_paid_at
  from public.income_hour i
 where exists (select from public.agent a where a.fid = i.fid);

create view directory.income_daily as
select i.fid, date_trunc('day', i.hour, 'UTC') as day, i.chain, i.kind, sum(i.n)::bigint as payments,
       sum(i.amount) * 0.000001 as amount_usdc,
       coalesce(sum(i.n) filter (where i.flag = 'none'), 0)::bigint as filtered_payments,
       coalesce(sum(i.amount) filter (where i.flag = 'none'), 0) * 0.000001 as filtered_amount_usdc,
       coalesce(sum(i.amount) filter (where i.x402), 0) * 0.000001 as x402_amount_usdc
  from public.income_hour i
 where exists (select from public.agent a where a.fid = i.fid)
 group by i.fid, date_trunc('day', i.hour, 'UTC'), i.chain, i.kind;

comment on view directory.income is e'@behavior -*\nWhat agents were paid by hour, address, kind and flag: every address that the agent verifies now, and wallets its registrations name while they do. Final blocks only, some seconds behind chains.rolled_up_block.';
comment on column directory.income.fid is 'The agent’s id in the social network.';
comment on column directory.income.hour is 'Beginning of the hour.';
comment on column directory.income.chain is 'Lowercase name of the chain: ';
comment on column directory.income.recipient_address is 'Who was paid.';
comment on column directory.income.kind is 'eip3009_vrs or eip3009_bytes: the form of the signature.';
comment on column directory.income.flag is 'self: payer and recipient are one address; same_owner: the payer is or was an address of the same agent; none.';
comment on column directory.income.filtered is 'Whether it counts as filtered income: the flag is none.';
comment on column directory.income.x402 is 'Whether a known facilitator sent it.';
comment on column directory.income.payments is 'Payments in it.';
comment on column directory.income.amount_usdc is 'Dollars, with all six decimals.';
comment on column directory.income.dust_payments is 'Those of them below a thousandth of a dollar.';
comment on column directory.income.first_paid_at is 'Time of the first.';
comment on column directory.income.last_paid_at is 'Time of the last.';

comment on view directory.income_daily is e'@behavior -*\nThe same by agent and UTC day, raw and filtered side by side.';
comment on column directory.income_daily.fid is 'The agent’s id in the social network.';
comment on column directory.income_daily.day is 'Beginning of the day, UTC.';
comment on column directory.income_daily.chain is 'Lowercase name of the chain: ';
comment on column directory.income_daily.kind is 'eip3009_vrs or eip3009_bytes: the form of the signature.';
comment on column directory.income_daily.payments is 'Payments, whoever paid.';
comment on column directory.income_daily.amount_usdc is 'Dollars of these, with all six decimals.';
comment on column directory.income_daily.filtered_payments is 'Payments by others than the agent itself: without self and same_owner.';
comment on column directory.income_daily.filtered_amount_usdc is 'Dollars of these.';
comment on column directory.income_daily.x402_amount_usdc is 'Dollars that known facilitators sent, whoever paid.';
select directory.grant_reader();
