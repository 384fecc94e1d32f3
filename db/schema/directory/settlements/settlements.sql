-- Where no token is scaled, the planner leaves the functions out, which would be called for each row.
-- How a selector was found goes into the files: without it a row could not be made again from them.
create or replace view directory.settlements as
select s.chain, s.block_number, s.log_index, '0x' || encode(s.tx_hash, 'hex') as tx_hash, s.block_timestamp,
       '0x' || encode(s.payer, 'hex') as payer_address, '0x' || encode(s.recipient, 'hex') as recipient_address,
       '0x' || encode(s.facilitator, 'hex') as facilitator_address, '0x' || encode(s.token, 'hex') as token_address,
       '0x' || encode(s.payment_nonce, 'hex') as payment_nonce, '0x' || encode(s.selector, 'hex') as selector,
       s.selector in ('\xe3ee160e', '\xef55bec6') as counted,
       s.amount,
       case when tokens_are_scaled() then (exact_of(s.chain, s.block_number, s.log_index, s.amount)).dollars
            else s.amount * 0.000001 end as amount_usdc,
       s.recipient as recipient_bytes,
       coalesce(s.block_number <= c.finalized_block, false) as final, token_symbol_of(s.token) as token_symbol, s.payer as payer_bytes,
       s.selector_source::text as selector_source,
       case when tokens_are_scaled() then (exact_of(s.chain, s.block_number, s.log_index, s.amount)).base_units
            else s.amount end::numeric(38, 0) as base_units
  from public.settlement s
  left join public.chain_state c on c.chain = s.chain;

comment on view directory.settlements is e'@behavior -*\nAll settlements, whoever was paid. Large: give a chain with a range of blocks, or recipient_bytes.';
comment on column directory.settlements.chain is 'Lowercase name of the chain: ';
comment on column directory.settlements.block_number is 'Block of the settlement.';
comment on column directory.settlements.log_index is 'Log index in the block; several settlements may share a transaction.';
comment on column directory.settlements.tx_hash is 'The transaction.';
comment on column directory.settlements.block_timestamp is 'Block time.';
comment on column directory.settlements.payer_address is 'Who signed the authorization.';
comment on column directory.settlements.recipient_address is 'Who was paid.';
comment on column directory.settlements.facilitator_address is 'Who sent the transaction.';
comment on column directory.settlements.payment_nonce is 'Nonce of the authorization.';
comment on column directory.settlements.selector is 'Function called: 0xe3ee160e, 0xef55bec6, or an overload of them.';
comment on column directory.settlements.counted is 'Whether it is of one of the two selectors that rankings and counts of the API are made of.';
comment on column directory.settlements.amount is 'Millionths of a dollar; of a token with finer units the whole ones.';
comment on column directory.settlements.amount_usdc is 'Dollars, with all six decimals; of a token with finer units, with all that it has.';
comment on column directory.settlements.token_address is 'The stablecoin’s contract.';
comment on column directory.settlements.recipient_bytes is 'The recipient as bytes: conditions on it use an index, those on the text do not.';
comment on column directory.settlements.final is 'Whether it is at or below the finalized block: it will not be undone.';
comment on column directory.settlements.token_symbol is 'The stablecoin’s symbol: on the seven chains that are built in, it is native USDC; null: of a token that the chain table does not list.';
comment on column directory.settlements.payer_bytes is 'The payer as bytes: conditions on it use an index, those on the text do not.';
comment on column directory.settlements.selector_source is 'How the selector was found: c, the transaction’s calldata; t, a trace; i, inferred from the logs.';
comment on column directory.settlements.base_units is 'Exact amount in the token’s base units: `amount`, unless these are not millionths of a dollar.';
