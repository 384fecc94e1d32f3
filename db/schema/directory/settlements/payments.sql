-- Where no token is scaled, the planner leaves the functions out, which would be called for each row.
create or replace view directory.payments as
select p.chain, p.block_number, p.log_index, '0x' || encode(p.tx_hash, 'hex') as tx_hash, p.block_timestamp, p.kind,
       '0x' || encode(p.payer, 'hex') as payer_address, '0x' || encode(p.payee, 'hex') as recipient_address,
       '0x' || encode(p.facilitator, 'hex') as facilitator_address, '0x' || encode(p.token, 'hex') as token_address,
       case when t.is_dollar then token_symbol_of(p.token) end as token_symbol,
       p.net as amount,
       case when t.is_dollar and tokens_are_scaled() then (exact_of(p.chain, p.block_number, p.log_index, p.net)).base_units
            when t.is_dollar then p.net end::numeric(38, 0) as base_units,
       case when t.is_dollar and tokens_are_scaled() then coalesce((
              select e.decimals from public.exact_amount e
               where e.chain = p.chain and e.block_number = p.block_number and e.log_index = p.log_index), 6)
            when t.is_dollar then 6 end as decimals,
       case when t.is_dollar and tokens_are_scaled() then (exact_of(p.chain, p.block_number, p.log_index, p.net)).dollars
            when t.is_dollar then p.net * 0.000001 end as amount_usdc,
       '0x' || encode(p.subject, 'hex') as subject, '0x' || encode(p.funder, 'hex') as funder_address,
       '0x' || encode(p.forwarder, 'hex') as forwarder_address,
       coalesce(p.block_number <= c.finalized_block, false) as final,
       p.payee as recipient_bytes, p.payer as payer_bytes
  from public.payment p
 cross join lateral (
   select exists (select from public.chain_contract d
                   where d.chain = p.chain and d.address = '0x' || encode(p.token, 'hex')
                     and d.from_block <= p.block_number) as is_dollar) t
  left join public.chain_state c on c.chain = p.chain
 where p.net <> 0 or p.fraction_sign is not null;

comment on view directory.payments is e'@behavior -*\nSingle payments of every kind but settlements, whoever was paid: by Permit2, channels, escrows, jobs and forwarders, and what went back of them. Those of one transaction may be of the same money, which a forwarder passed on. Large: give recipient_bytes with a time, payer_bytes, or a chain with a range of blocks.';
comment on column directory.payments.chain is 'Lowercase name of the chain: ';
comment on column directory.payments.block_number is 'Block of the payment.';
comment on column directory.payments.log_index is 'Index of the log that proves it, in the block.';
comment on column directory.payments.tx_hash is 'The transaction.';
comment on column directory.payments.block_timestamp is 'Block time.';
comment on column directory.payments.kind is 'As in `income`: forwarded, permit2_exact, permit2_upto, batch_claim, escrow_charge, escrow_capture, escrow_refund or job_release.';
comment on column directory.payments.payer_address is 'Who signed, never a forwarder; of an escrow whose payer is not provable, the operator.';
comment on column directory.payments.recipient_address is 'Who was paid.';
comment on column directory.payments.facilitator_address is 'Who sent the transaction.';
comment on column directory.payments.token_address is 'The token’s contract, which may be any.';
comment on column directory.payments.token_symbol is 'Its symbol; null: it is not counted as dollars, or the chain table does not list it.';
comment on column directory.payments.amount is 'What came to the recipient, without fees, in millionths of a dollar; of a token with finer units the whole ones; of a token that is not counted as dollars, its base units. Below zero: it went back.';
comment on column directory.payments.base_units is 'Exact amount in the token’s base units; null: it is not counted as dollars.';
comment on column directory.payments.decimals is 'Base units are 10^-decimals dollars; null: it is not counted as dollars.';
comment on column directory.payments.amount_usdc is 'Dollars, with all six decimals; of a token with finer units, with all that it has; null: it is not counted as dollars. Of a refund all that went back, whatever it takes off income.';
comment on column directory.payments.subject is 'What the rows of one channel, escrowed payment or job have in common on the chain; null: nothing.';
comment on column directory.payments.funder_address is 'Of a claim from a channel, who put the most into it at once, if that is not the payer.';
comment on column directory.payments.forwarder_address is 'Who passed it on, of what is forwarded.';
comment on column directory.payments.final is 'Whether it is at or below the finalized block: it will not be undone.';
comment on column directory.payments.recipient_bytes is 'The recipient as bytes: conditions on it use an index, with a time or without; those on the text do not.';
comment on column directory.payments.payer_bytes is 'The payer as bytes: conditions on it use an index, those on the text do not.';
