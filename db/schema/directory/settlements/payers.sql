create or replace view directory.payers as
select '0x' || encode(recipient, 'hex') as recipient_address, '0x' || encode(payer, 'hex') as payer_address, chain,
       not overload as counted, first_at, last_at, n as settlements, amount * 0.000001 as amount_usdc,
       recipient as recipient_bytes, payer as payer_bytes
  from public.settlement_payer
 where length(chain) > 0; -- as the index by payer

comment on view directory.payers is e'@behavior -*\nWho paid whom, on which chain and how often. Final blocks only, up to chains.rolled_up_block, without ranges a backfill is loading.';
comment on column directory.payers.recipient_address is 'Who was paid.';
comment on column directory.payers.payer_address is 'Who paid.';
comment on column directory.payers.chain is 'Lowercase name of the chain.';
comment on column directory.payers.counted is 'Whether it is of one of the two selectors that rankings and counts of the API are made of.';
comment on column directory.payers.first_at is 'Block time of the first settlement between them.';
comment on column directory.payers.last_at is 'Block time of the last one.';
comment on column directory.payers.settlements is 'Settlements between them.';
comment on column directory.payers.amount_usdc is 'Dollars, with all six decimals.';
comment on column directory.payers.recipient_bytes is 'The recipient as bytes: conditions on it use an index, those on the text do not.';
comment on column directory.payers.payer_bytes is 'The payer as bytes: conditions on it use an index, those on the text do not.';
