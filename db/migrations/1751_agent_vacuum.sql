-- A round of the counters moves a thousand agents at once. On a page of the table that no vacuum has seen since, an agent is read
-- even when its order's index has all that is asked for: with the default, a fifth of all agents, mostly so.
alter table agent set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
