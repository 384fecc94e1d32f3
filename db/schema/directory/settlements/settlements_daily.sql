create or replace view directory.settlements_daily as
select '0x' || encode(recipient, 'hex') as recipient_address, chain, date_trunc('day', hour, 'UTC') as day,
       not overload as counted, sum(n)::bigint as settlements, sum(amount) * 0.000001 as amount_usdc,
       recipient as recipient_bytes
  from public.settlement_hourly
 group by recipient, chain, date_trunc('day', hour, 'UTC'), overload;

comment on view directory.settlements_daily is e'@behavior -*\nSettlements by recipient, chain and UTC day, whoever was paid. Final blocks only, up to chains.rolled_up_block, without ranges a backfill is loading.';
comment on column directory.settlements_daily.chain is 'Lowercase name of the chain: ';
comment on column directory.settlements_daily.counted is 'Whether it is of one of the two selectors that rankings and counts of the API are made of.';
comment on column directory.settlements_daily.settlements is 'Settlements in it.';
comment on column directory.settlements_daily.amount_usdc is 'Dollars, with all six decimals.';
comment on column directory.settlements_daily.recipient_address is 'Who was paid.';
comment on column directory.settlements_daily.day is 'Beginning of the day, UTC.';
comment on column directory.settlements_daily.recipient_bytes is 'The recipient as bytes: conditions on it use an index, those on the text do not.';
