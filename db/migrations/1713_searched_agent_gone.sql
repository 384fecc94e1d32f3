-- An agent that was deleted while 1711 inserted: its trigger found no row to delete, and the insert still read the agent.
-- The indexes of 1712 waited for whoever did so, so that all of them are over.
delete from searched_agent s where not exists (select from agent a where a.fid = s.fid);
