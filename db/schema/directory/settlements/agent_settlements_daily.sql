create or replace view directory.agent_settlements_daily as
select v.fid, h.chain, date_trunc('day', h.hour, 'UTC') as day, not h.overload as counted,
       sum(h.n)::bigint as settlements, sum(h.amount) * 0.000001 as amount_usdc
  from public.agent a
  join public.verified_address v on v.fid = a.fid and v.ended_at is null
  join public.settlement_hourly h on h.recipient = v.address
 group by v.fid, h.chain, date_trunc('day', h.hour, 'UTC'), h.overload;

comment on view directory.agent_settlements_daily is e'@primaryKey fid,chain,day,counted\n@foreignKey (fid) references directory.agents (fid)|@fieldName agent|@foreignFieldName dailySettlements\n@name agent_settlement_day\n@behavior -query:resource:connection -query:resource:list\nSettlements to addresses that an agent verifies now, by chain and UTC day. Final blocks only, up to chains.rolled_up_block.';
comment on column directory.agent_settlements_daily.chain is 'Lowercase name of the chain: ';
comment on column directory.agent_settlements_daily.counted is 'Whether it is of one of the two selectors that rankings and counts of the API are made of.';
comment on column directory.agent_settlements_daily.settlements is 'Settlements in it.';
comment on column directory.agent_settlements_daily.amount_usdc is 'Dollars, with all six decimals.';
comment on column directory.agent_settlements_daily.fid is 'The agent’s id in the social network.';
comment on column directory.agent_settlements_daily.day is 'Beginning of the day, UTC.';
