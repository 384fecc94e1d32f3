-- What shows that a handle is the account's, whatever the followed hub says.
alter table social_profile
  add column handle_owner bytea,   -- address that the name server signed to have the handle; null: it signed nothing
  add column handle_witness text;  -- another hub that says whose the handle is; null: none does
-- proven, signed or stated; null: it has no handle.
alter table agent add column handle_assurance text;

-- Whose an account is decides whose its handle is.
create trigger custody_reading_added after insert on custody_reading
  referencing new table as added for each statement execute function note_agents();
create trigger custody_reading_changed after update on custody_reading
  referencing new table as added for each statement execute function note_agents();
create or replace function note_custody() returns trigger language plpgsql as $$
begin
  insert into agent_event (fid)
  select distinct m.fid from moved m
   where exists (select from claim c where c.fid = m.fid and c.state <> 'ended')
      or exists (select from social_profile p where p.fid = m.fid and p.handle_owner is not null);
  return null;
end $$;
