-- What becomes of agents is noted by one trigger.
drop trigger agent_standing_changed on agent;
drop trigger agent_listed on agent;
create trigger agent_listed after insert or delete or update of claimed, agent_status on agent
  for each row execute function note_directory_event();
