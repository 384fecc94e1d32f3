create or replace view directory.agent_payers_daily as
select v.fid, s.chain, date_trunc('day', s.block_timestamp, 'UTC') as day, '0x' || encode(s.payer, 'hex') as payer_address,
       s.selector in ('\xe3ee160e', '\xef55bec6') as counted, count(*) as settlements, sum(s.amount) * 0.000001 as amount_usdc
  from public.agent a
  join public.verified_address v on v.fid = a.fid and v.ended_at is null
  join public.settlement s on s.recipient = v.address
 group by v.fid, s.chain, date_trunc('day', s.block_timestamp, 'UTC'), s.payer, s.selector in ('\xe3ee160e', '\xef55bec6');

comment on view directory.agent_payers_daily is e'@behavior -*\nWho paid an agent on each UTC day, to the block. Give a fid: its settlements are read.';
comment on column directory.agent_payers_daily.fid is 'The agent’s id in the social network.';
comment on column directory.agent_payers_daily.chain is 'Lowercase name of the chain.';
comment on column directory.agent_payers_daily.day is 'Beginning of the day, UTC.';
comment on column directory.agent_payers_daily.payer_address is 'Who paid.';
comment on column directory.agent_payers_daily.counted is 'Whether it is of one of the two selectors that rankings and counts of the API are made of.';
comment on column directory.agent_payers_daily.settlements is 'Settlements in it.';
comment on column directory.agent_payers_daily.amount_usdc is 'Dollars, with all six decimals.';
