-- Settlements, messages and answers of hosts are activity, not change; what a mirror shows of an agent moves with them
-- all the same. One row an agent, numbered from the sequence of agent_change: together they are what a mirror follows.

create table agent_activity (
  fid bigint primary key,
  seq bigint not null unique
);

-- Everything that writes `agent` holds the join's lock until it ends, so that numbers are handed out in the order of
-- commits here as well.
create function note_activity() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    delete from agent_activity where fid in (select fid from removed);
    return null;
  end if;
  insert into agent_activity (fid, seq)
  select a.fid, nextval(pg_get_serial_sequence('agent_change', 'seq'))
    from added a
    join removed r using (fid)
   where (a.settlements_30d, a.settlements_all, a.last_settlement_at, a.last_message_at, a.last_alive_at)
         is distinct from
         (r.settlements_30d, r.settlements_all, r.last_settlement_at, r.last_message_at, r.last_alive_at)
   order by a.fid
      on conflict (fid) do update set seq = excluded.seq;
  return null;
end $$;
create trigger agent_moved after update on agent
  referencing old table as removed new table as added for each statement execute function note_activity();
create trigger agent_removed after delete on agent
  referencing old table as removed for each statement execute function note_activity();
