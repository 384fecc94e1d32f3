-- Who sends settlements, and what each sent.

-- Accounts whose facilitator is known by name. Those of the published list are brought here whenever a database is
-- migrated, those that a facilitator names itself when it is asked.
create table facilitator_sender (
  address bytea primary key,
  name text not null,
  source text not null                   -- the published list, or the host that named it
);

-- What each recipient was paid through each sender, summed up with the hours, totals and payers.
create table settlement_facilitator (
  recipient bytea not null,
  facilitator bytea not null,
  chain text not null,
  overload boolean not null,             -- of the selectors that take the signature as bytes
  last_at timestamptz not null,          -- time of the newest
  n bigint not null,
  amount numeric(38, 0) not null,        -- base units
  first_at timestamptz not null,         -- time of the oldest
  primary key (recipient, facilitator, chain, overload)
);
create index settlement_facilitator_sender on settlement_facilitator (facilitator);

-- The same over all recipients, kept by whatever moves it.
create table facilitator_total (
  facilitator bytea not null,
  chain text not null,
  overload boolean not null,
  last_at timestamptz,                   -- null: n is 0
  n bigint not null,
  amount numeric(38, 0) not null,        -- base units
  first_at timestamptz,
  primary key (facilitator, chain, overload)
);

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
      from (select facilitator, chain, overload, min(added.first_at) as first_at, max(added.last_at) as last_at,
                   sum(added.n - removed.n) as n, sum(added.amount - removed.amount) as amount
              from added
              join removed using (recipient, facilitator, chain, overload)
             group by 1, 2, 3) moved
     where (t.facilitator, t.chain, t.overload) = (moved.facilitator, moved.chain, moved.overload);
    -- An end that moved inwards is looked for among what is left.
    perform refit_facilitators(array(
      select distinct facilitator from added join removed using (recipient, facilitator, chain, overload)
       where added.first_at > removed.first_at or added.last_at < removed.last_at));
  else
    update facilitator_total t
       set n = t.n - gone.n, amount = t.amount - gone.amount
      from (select facilitator, chain, overload, sum(n) as n, sum(amount) as amount from removed group by 1, 2, 3) gone
     where (t.facilitator, t.chain, t.overload) = (gone.facilitator, gone.chain, gone.overload);
    perform refit_facilitators(array(select distinct facilitator from removed));
  end if;
  return null;
end $$;

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

create trigger settlement_facilitator_added after insert on settlement_facilitator
  referencing new table as added for each statement execute function sum_facilitators();
create trigger settlement_facilitator_changed after update on settlement_facilitator
  referencing old table as removed new table as added for each statement execute function sum_facilitators();
create trigger settlement_facilitator_removed after delete on settlement_facilitator
  referencing old table as removed for each statement execute function sum_facilitators();
create trigger settlement_facilitator_emptied after truncate on settlement_facilitator
  for each statement execute function sum_facilitators();

-- A job of the version before would leave these sums out.
create or replace function refuse_other_sums() returns trigger language plpgsql as $$
begin
  if coalesce(current_setting('directory.sums', true), '') <> 'hours, totals, payers, senders' then
    raise exception 'this program does not keep the sums of settlements that this database has; update it';
  end if;
  return new;
end $$;

-- What is rolled up so far. Whoever rolls up waits until it is summed; readers and whoever writes settlements do not.
do $$ begin perform from settlement_rollup order by chain for update; end $$;
insert into settlement_facilitator (recipient, facilitator, chain, overload, first_at, last_at, n, amount)
select recipient, facilitator, chain, selector not in ('\xe3ee160e', '\xef55bec6'),
       min(block_timestamp), max(block_timestamp), count(*), sum(amount)
  from settlement s
 where not exists (select from settlement_unrolled u
                    where u.chain = s.chain and s.block_number between u.from_block and u.to_block)
 group by 1, 2, 3, 4;

create view directory.facilitators as
select s.name, '0x' || encode(s.address, 'hex') as sender_address, s.source, t.chain, not t.overload as counted,
       coalesce(t.n, 0) as settlements, coalesce(t.amount, 0) * 0.000001 as amount_usdc,
       t.first_at as first_used_at, t.last_at as last_used_at
  from public.facilitator_sender s
  left join public.facilitator_total t on t.facilitator = s.address and t.n > 0;

comment on view directory.facilitators is e'@behavior -*\nAccounts of known facilitators and what they settled, by chain and by kind of selector. Final blocks only, up to chains.rolled_up_block. An account that never sent has one row without a chain.';
comment on column directory.facilitators.name is 'The facilitator.';
comment on column directory.facilitators.sender_address is 'Account that it sends transactions from.';
comment on column directory.facilitators.source is 'Who says that the account is the facilitator’s: the published list, or a host of the facilitator.';
comment on column directory.facilitators.chain is 'Lowercase name of the chain: ';
comment on column directory.facilitators.counted is 'Whether it is of one of the two selectors that rankings and counts of the API are made of.';
comment on column directory.facilitators.settlements is 'Settlements that it sent.';
comment on column directory.facilitators.amount_usdc is 'Dollars, with all six decimals.';
comment on column directory.facilitators.first_used_at is 'Time of the oldest of them.';
comment on column directory.facilitators.last_used_at is 'Time of the newest of them.';
select directory.grant_reader();
