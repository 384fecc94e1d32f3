-- Wallets that the registry took from the caller at the mint were named in the mint's transaction.
update registration_metadata m
   set tx_hash = t.tx_hash
  from registration_transfer t
 where m.key = 'agentWallet' and t.chain = m.chain and t.agent_id = m.agent_id and t.block_number = m.block_number
   and t."from" is null and m.value = t."to";

-- Those that were named later are made anew from the chain's events by its auditor.
insert into audit_agent (chain, agent_id)
select distinct chain, agent_id from registration_metadata
 where key = 'agentWallet' and tx_hash is null and octet_length(value) > 0
    on conflict do nothing;
