-- When what the feed shows of an agent changed last; `changed_at` moves with much that it does not show.
alter table agent add column entry_changed_at timestamptz;
update agent set entry_changed_at = changed_at;

create function note_entry() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT'
     or (new.handle, left(new.bio, 280), new.oli, new.chains, new.claimed, new.claim_method, new.agent_status, new.listed_at)
        is distinct from
        (old.handle, left(old.bio, 280), old.oli, old.chains, old.claimed, old.claim_method, old.agent_status, old.listed_at)
  then
    new.entry_changed_at := new.changed_at;
  end if;
  return new;
end $$;
create trigger agent_entry
  before insert or update of handle, bio, oli, chains, claimed, claim_method, agent_status, listed_at on agent
  for each row execute function note_entry();
