-- What became of agents, for readers who follow it: appended to and never changed. Everything that writes `agent` holds
-- the join's lock until it ends, so that numbers are handed out in the order of commits: below one that is seen no other
-- comes later. Numbers of what was rolled back are missing.
create table directory_event (
  seq bigint generated always as identity primary key,
  at timestamptz not null default now(),
  fid bigint not null,
  kind text not null check (kind in ('listed', 'delisted', 'claimed', 'unclaimed', 'status')),
  handle text,                             -- as it was then
  status text not null                     -- active, historical, claimed-only, as it was then
);

create function note_directory_event() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    insert into directory_event (fid, kind, handle, status) values (old.fid, 'delisted', old.handle, old.agent_status);
    return null;
  end if;
  if tg_op = 'INSERT' then
    insert into directory_event (fid, kind, handle, status) values (new.fid, 'listed', new.handle, new.agent_status);
  elsif new.agent_status <> old.agent_status then
    insert into directory_event (fid, kind, handle, status) values (new.fid, 'status', new.handle, new.agent_status);
  end if;
  if new.claimed is distinct from (tg_op = 'UPDATE' and old.claimed) then
    insert into directory_event (fid, kind, handle, status)
    values (new.fid, case when new.claimed then 'claimed' else 'unclaimed' end, new.handle, new.agent_status);
  end if;
  return null;
end $$;
create trigger agent_listed after insert or delete on agent
  for each row execute function note_directory_event();
create trigger agent_standing_changed after update of claimed, agent_status on agent
  for each row when (new.claimed <> old.claimed or new.agent_status <> old.agent_status)
  execute function note_directory_event();

create trigger directory_event_kept before update or delete on directory_event
  for each statement execute function refuse_change();

-- What was before, as far as it is known.
insert into directory_event (at, fid, kind, handle, status)
select at, fid, kind, handle, agent_status
  from (select listed_at as at, fid, 'listed' as kind, handle, agent_status from agent
         union all
        select greatest(claimed_at, listed_at), fid, 'claimed', handle, agent_status from agent where claimed) as known
 order by at, fid, kind desc;
