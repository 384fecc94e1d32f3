-- What waited in the queues of before. Their triggers are gone: nothing comes to them any more.
insert into due (kind, key) select distinct 'wallets', chain || ':' || agent_id from income_wallet_event;
insert into due (kind, key)
select distinct 'income', c.fid::text from income_progress p join agent_change c on c.seq > p.change;
insert into due (kind, key) select distinct 'neighbours', fid::text from edge_event;
insert into due (kind, key) select 'edges', fid::text from edge_derivation where due;
insert into due (kind, key, due_at)
select 'neighbours', fid::text, derived_at + interval '1 day' from edge_derivation where derived_at is not null;
insert into due (kind, key) select distinct 'holders', encode(address, 'hex') from holder_event;
insert into due (kind, key) select distinct 'registrations', chain || ':' || agent_id from token_event;
insert into due (kind, key) select distinct 'agents', fid::text from agent_event;
insert into due (kind, key, due_at)
select distinct 'large holders', fid::text, coalesce(l.derived_at + interval '1 minute', '-infinity')
  from large_holder_event left join large_holder l using (fid);
