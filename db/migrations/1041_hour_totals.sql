-- What everybody was paid in an hour: the sums of settlement_hourly over its recipients, kept by whatever moves them.
create table settlement_hour_total (
  chain text not null,
  hour timestamptz not null,             -- its beginning
  overload boolean not null,             -- of the selectors that take the signature as bytes
  n bigint not null,
  amount numeric(38, 0) not null,        -- base units
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

-- Whoever moves the sums waits until what there is is summed up; readers do not.
lock table settlement_hourly in share row exclusive mode;
insert into settlement_hour_total (chain, hour, overload, n, amount)
select chain, hour, overload, sum(n), sum(amount) from settlement_hourly group by 1, 2, 3;

create trigger settlement_hourly_added after insert on settlement_hourly
  referencing new table as added for each statement execute function sum_hours();
create trigger settlement_hourly_changed after update on settlement_hourly
  referencing old table as removed new table as added for each statement execute function sum_hours();
create trigger settlement_hourly_removed after delete on settlement_hourly
  referencing old table as removed for each statement execute function sum_hours();
create trigger settlement_hourly_emptied after truncate on settlement_hourly
  for each statement execute function sum_hours();
