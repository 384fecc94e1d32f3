-- Who pays agents is counted once for each; what moves later makes its agents due itself.
insert into due (kind, key) select 'demand', fid::text from agent;
