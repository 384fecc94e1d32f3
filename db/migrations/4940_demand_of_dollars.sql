-- Payments of nothing no longer count as demand: who pays agents is counted once more for each.
insert into due (kind, key) select 'demand', fid::text from agent;
