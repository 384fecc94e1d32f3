-- Nothing tells how addresses were counted before, so all are once.
insert into due (kind, key)
select 'recipients', encode(address, 'hex') from recipient_counts
 union
select 'recipients', encode(address, 'hex') from agent cross join unnest(verified_addresses) as address;
