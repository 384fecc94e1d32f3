-- What agents' registrations declare has never been derived.
insert into due (kind, key) select 'declarations', fid::text from agent;
