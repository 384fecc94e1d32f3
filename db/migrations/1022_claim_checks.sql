-- Why a verification ended: pruned by the network, which nobody decided. What it says of others is not to be relied on.
alter table verified_address add column pruned boolean not null default false;

-- A change of custody, and its undoing, is about the claims of the account.
create function note_custody() returns trigger language plpgsql as $$
begin
  insert into agent_event (fid)
  select distinct c.fid from moved m join claim c on c.fid = m.fid where c.state <> 'ended';
  return null;
end $$;
create trigger fid_custody_added after insert on fid_custody
  referencing new table as moved for each statement execute function note_custody();
create trigger fid_custody_removed after delete on fid_custody
  referencing old table as moved for each statement execute function note_custody();
