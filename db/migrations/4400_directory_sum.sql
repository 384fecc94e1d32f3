-- Sums of the whole directory are derived part by part. Until they are, they are those that were kept; every part is due.
create table directory_sum (
  part text primary key,
  agents bigint not null default 0,
  claimed bigint not null default 0,
  cross_chain bigint not null default 0,
  addresses bigint not null default 0,
  last_24h bigint not null default 0,
  last_7d bigint not null default 0,
  last_30d bigint not null default 0,
  ever bigint not null default 0,
  chain text,
  identities bigint not null default 0
);
insert into directory_sum (part, agents, claimed, cross_chain)
select 'agents:' || part / 2, sum(total), sum(claimed), sum(cross_chain) from agent_sum group by 1;
insert into directory_sum (part, addresses, last_24h, last_7d, last_30d, ever)
select 'addresses:' || lpad(to_hex(part), 3, '0'), held, last_24h, last_7d, last_30d, ever from address_sum;
insert into directory_sum (part, chain, identities) select 'supply:' || chain || ':' || part, chain, n from supply_sum;
insert into due (kind, key)
select 'totals', part from directory_sum
 union
select 'totals', 'agents:' || fid / 1024 from agent
 union
select 'totals', 'addresses:' || lpad(to_hex(part), 3, '0') from generate_series(0, 4095) as part
 union
select 'totals', 'supply:' || chain || ':' || least(div(agent_id, 1024), 4095)::int from registration;
