-- Since when addresses are an agent's own is derived again.
insert into due (kind, key) select 'income', fid from agent;
