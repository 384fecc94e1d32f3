-- Agents ranked by what they earned.

-- What each agent was paid without what it paid itself, kept by whatever moves its hours.
create table income_agent (
  fid bigint not null,
  chain text not null,
  n bigint not null,
  amount numeric(38, 0) not null,        -- base units
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
insert into income_agent (fid, chain, n, amount)
select fid, chain, sum(n), sum(amount) from income_hour where flag = 'none' group by 1, 2;

-- An agent may have earned without a settlement that counts.
alter table ranking add column income_n bigint not null default 0;
alter table ranking add column income numeric(38, 0) not null default 0; -- base units
alter table ranking alter column newest_at drop not null;
