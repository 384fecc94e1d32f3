-- Whoever got all of it back is no payer any more: who pays agents is counted once more for each.
insert into due (kind, key) select 'demand', fid::text from agent;
