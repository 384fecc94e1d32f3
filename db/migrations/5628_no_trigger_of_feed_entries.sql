-- When what the feed shows of an agent changed is written by the statement that derives the agent.
drop trigger agent_entry on agent;
drop function note_entry();
