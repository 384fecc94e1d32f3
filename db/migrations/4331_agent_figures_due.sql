-- The figures of all agents are made once; until then each round of the rankings counts those that are missing.
insert into due (kind, key) select 'figures', fid::text from agent;
