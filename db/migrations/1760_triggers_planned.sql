-- A session keeps the plan of a trigger's first statement. The first may come while there is hardly an address, and be
-- planned to read all of them; by that plan a million sums of a loaded range read all of them a million times. So each of
-- these, which sums of settlements fire, is planned for the rows that moved and the tables as they are.

create or replace function note_paid_agents() returns trigger language plpgsql as $$
begin
  execute $planned$
    insert into edge_event (fid)
    select distinct v.fid
      from (select distinct recipient, payer from changed) c
      join verified_address v on v.address = c.recipient and v.ended_at is null
     where exists (select from agent a where a.fid = v.fid)
       and exists (select from verified_address p join agent a on a.fid = p.fid
                    where p.address = c.payer and p.ended_at is null and p.fid <> v.fid)
  $planned$;
  return null;
end $$;

create or replace function note_income_hours() returns trigger language plpgsql as $$
begin
  execute format($planned$
    insert into income_due (recipient, chain, hour)
    select distinct recipient, chain, hour from %I moved
     where exists (select from income_address a where a.address = moved.recipient)
     order by 1, 2, 3 on conflict (recipient, chain, hour) do update set hour = excluded.hour
  $planned$, case tg_op when 'DELETE' then 'removed' else 'added' end);
  return null;
end $$;

create or replace function note_ring_payers() returns trigger language plpgsql as $$
begin
  execute $planned$
    insert into income_ring_due (address)
    select distinct r.address from changed join income_reach r on r.payer = changed.payer order by 1
        on conflict (address) do update set address = excluded.address
  $planned$;
  return null;
end $$;
