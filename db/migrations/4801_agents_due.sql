-- What changed while the triggers were gone and their programs still ran.
insert into due (kind, key) select 'agents', fid from agent;
