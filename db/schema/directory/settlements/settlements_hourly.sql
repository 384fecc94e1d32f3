create or replace view directory.settlements_hourly as
select '0x' || encode(recipient, 'hex') as recipient_address, chain, hour, not overload as counted,
       n as settlements, amount * 0.000001 as amount_usdc, recipient as recipient_bytes
  from public.settlement_hourly;

comment on view directory.settlements_hourly is e'@behavior -*\nSettlements by recipient, chain and hour, whoever was paid. Final blocks only, up to chains.rolled_up_block, without ranges a backfill is loading.';
comment on column directory.settlements_hourly.chain is 'Lowercase name of the chain: ';
comment on column directory.settlements_hourly.counted is 'Whether it is of one of the two selectors that rankings and counts of the API are made of.';
comment on column directory.settlements_hourly.settlements is 'Settlements in it.';
comment on column directory.settlements_hourly.amount_usdc is 'Dollars, with all six decimals.';
comment on column directory.settlements_hourly.recipient_address is 'Who was paid.';
comment on column directory.settlements_hourly.hour is 'Beginning of the hour.';
comment on column directory.settlements_hourly.recipient_bytes is 'The recipient as bytes: conditions on it use an index, those on the text do not.';
