-- An entry of the feed says when a handle is one hub's word alone: it changes with that, too.
create or replace function note_entry() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT'
     or (new.handle, coalesce(new.handle_assurance, 'stated') = 'stated', left(new.bio, 280), new.oli, new.chains, new.claimed,
         new.claim_method, new.agent_status, new.listed_at)
        is distinct from
        (old.handle, coalesce(old.handle_assurance, 'stated') = 'stated', left(old.bio, 280), old.oli, old.chains, old.claimed,
         old.claim_method, old.agent_status, old.listed_at)
  then
    new.entry_changed_at := new.changed_at;
  end if;
  return new;
end $$;
drop trigger agent_entry on agent;
create trigger agent_entry
  before insert or update of handle, handle_assurance, bio, oli, chains, claimed, claim_method, agent_status, listed_at on agent
  for each row execute function note_entry();
