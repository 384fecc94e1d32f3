-- Where no token is scaled, the planner leaves the functions out, which would be called for each row.
create or replace view directory.agent_settlements as
select v.fid, s.chain, s.block_number, s.log_index, '0x' || encode(s.tx_hash, 'hex') as tx_hash, s.block_timestamp,
       '0x' || encode(s.payer, 'hex') as payer_address, '0x' || encode(s.recipient, 'hex') as recipient_address,
       '0x' || encode(s.facilitator, 'hex') as facilitator_address,
       '0x' || encode(s.payment_nonce, 'hex') as payment_nonce, '0x' || encode(s.selector, 'hex') as selector,
       s.selector in ('\xe3ee160e', '\xef55bec6') as counted, s.amount,
       case when tokens_are_scaled() then (exact_of(s.chain, s.block_number, s.log_index, s.amount)).dollars
            else s.amount * 0.000001 end as amount_usdc,
       coalesce(s.block_number <= c.finalized_block, false) as final, token_symbol_of(s.token) as token_symbol,
       case when tokens_are_scaled() then (exact_of(s.chain, s.block_number, s.log_index, s.amount)).base_units
            else s.amount end::numeric(38, 0) as base_units
  from public.agent a
  join public.verified_address v on v.fid = a.fid and v.ended_at is null
  join public.settlement s on s.recipient = v.address
  left join public.chain_state c on c.chain = s.chain;

comment on view directory.agent_settlements is e'@primaryKey fid,chain,block_number,log_index\n@foreignKey (fid) references directory.agents (fid)|@fieldName agent|@foreignFieldName settlements\n@name agent_settlement\n@behavior -query:resource:connection -query:resource:list\nSettlements to addresses that an agent verifies now, one row for each agent that was paid. Fast for one fid.';
comment on column directory.agent_settlements.fid is 'The agent’s id in the social network.';
comment on column directory.agent_settlements.chain is 'Lowercase name of the chain: ';
comment on column directory.agent_settlements.block_number is 'Block of the settlement.';
comment on column directory.agent_settlements.log_index is 'Log index in the block; several settlements may share a transaction.';
comment on column directory.agent_settlements.tx_hash is 'The transaction.';
comment on column directory.agent_settlements.block_timestamp is 'Block time.';
comment on column directory.agent_settlements.payer_address is 'Who signed the authorization.';
comment on column directory.agent_settlements.recipient_address is 'Who was paid.';
comment on column directory.agent_settlements.facilitator_address is 'Who sent the transaction.';
comment on column directory.agent_settlements.payment_nonce is 'Nonce of the authorization.';
comment on column directory.agent_settlements.selector is 'Function called: 0xe3ee160e, 0xef55bec6, or an overload of them.';
comment on column directory.agent_settlements.counted is 'Whether it is of one of the two selectors that rankings and counts of the API are made of.';
comment on column directory.agent_settlements.amount is 'Millionths of a dollar; of a token with finer units the whole ones.';
comment on column directory.agent_settlements.amount_usdc is 'Dollars, with all six decimals; of a token with finer units, with all that it has.';
comment on column directory.agent_settlements.final is 'Whether it is at or below the finalized block: it will not be undone.';
comment on column directory.agent_settlements.token_symbol is 'The stablecoin’s symbol: on the seven chains that are built in, it is native USDC; null: of a token that the chain table does not list.';
comment on column directory.agent_settlements.base_units is 'Exact amount in the token’s base units: `amount`, unless these are not millionths of a dollar.';
