-- Which log a mirror follows: another database counts its changes from 1 again, and has another epoch.
create table change_epoch (
  epoch uuid primary key default gen_random_uuid()
);
create unique index change_epoch_one on change_epoch ((true));
insert into change_epoch default values;

-- When an agent last moved. Rows from before are as old as this statement.
alter table agent_activity add column changed_at timestamptz not null default now();

create or replace function note_activity() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    delete from agent_activity where fid in (select fid from removed);
    return null;
  end if;
  insert into agent_activity (fid, seq, changed_at)
  select a.fid, nextval(pg_get_serial_sequence('agent_change', 'seq')), now()
    from added a
    join removed r using (fid)
   where (a.settlements_30d, a.settlements_all, a.last_settlement_at, a.last_message_at, a.last_alive_at)
         is distinct from
         (r.settlements_30d, r.settlements_all, r.last_settlement_at, r.last_message_at, r.last_alive_at)
   order by a.fid
      on conflict (fid) do update set seq = excluded.seq, changed_at = excluded.changed_at;
  return null;
end $$;
