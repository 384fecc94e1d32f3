create or replace view directory.registry_events as
select e.chain, r.contract_address, r.contract_address in (public.registry_of('', false), public.registry_of('', true)) as is_official, e.event,
       e.agent_id as erc8004_id, e.args, e.block_number, e.log_index, '0x' || encode(e.tx_hash, 'hex') as tx_hash,
       e.block_timestamp
  from (
    select chain, false as of_reputation, 'Transfer' as event, agent_id,
           json_build_object('from', '0x' || coalesce(encode("from", 'hex'), repeat('0', 40)),
                             'to', '0x' || coalesce(encode("to", 'hex'), repeat('0', 40)), 'tokenId', agent_id::text) as args,
           block_number, log_index, tx_hash, block_timestamp
      from public.registration_transfer
     union all
    select chain, false, 'Approval', agent_id,
           json_build_object('owner', '0x' || encode(owner, 'hex'),
                             'approved', '0x' || coalesce(encode(approved, 'hex'), repeat('0', 40)), 'tokenId', agent_id::text),
           block_number, log_index, tx_hash, block_timestamp
      from public.registration_approval
     union all
    select chain, false, 'ApprovalForAll', null,
           json_build_object('owner', '0x' || encode(owner, 'hex'), 'operator', '0x' || encode(operator, 'hex'),
                             'approved', approved),
           block_number, log_index, tx_hash, block_timestamp
      from public.registration_operator
     union all
    select chain, event = 'FeedbackRevoked', event, agent_id,
           case event
             when 'Registered' then
               json_build_object('agentId', agent_id::text, 'agentURI', uri, 'owner', '0x' || encode(account, 'hex'))
             when 'URIUpdated' then
               json_build_object('agentId', agent_id::text, 'newURI', uri, 'updatedBy', '0x' || encode(account, 'hex'))
             when 'MetadataSet' then
               json_build_object('agentId', agent_id::text, 'metadataKey', key, 'metadataValue', '0x' || encode(value, 'hex'))
             else json_build_object('agentId', agent_id::text, 'clientAddress', '0x' || encode(account, 'hex'),
                                    'feedbackIndex', feedback_index::text) end,
           block_number, log_index, tx_hash, block_timestamp
      from public.registry_event
     union all
    select chain, true, 'NewFeedback', agent_id,
           json_build_object('agentId', agent_id::text, 'clientAddress', '0x' || encode(client, 'hex'),
                             'feedbackIndex', feedback_index::text, 'value', value::text, 'valueDecimals', value_decimals,
                             'tag1', tag1, 'tag2', tag2, 'endpoint', endpoint, 'feedbackURI', feedback_uri,
                             'feedbackHash', '0x' || encode(feedback_hash, 'hex')),
           block_number, log_index, tx_hash, block_timestamp
      from public.feedback
     union all
    select chain, true, 'ResponseAppended', agent_id,
           json_build_object('agentId', agent_id::text, 'clientAddress', '0x' || encode(client, 'hex'),
                             'feedbackIndex', feedback_index::text, 'responder', '0x' || encode(responder, 'hex'),
                             'responseURI', response_uri, 'responseHash', '0x' || encode(response_hash, 'hex')),
           block_number, log_index, tx_hash, block_timestamp
      from public.feedback_response
  ) e
 cross join lateral (
   select public.registry_of(e.chain, e.of_reputation) as contract_address
 ) r;

comment on view directory.registry_events is e'@behavior -*\nEvery event of the identity and the reputation registry, one row each, as the contracts logged it; only MetadataUpdate (ERC-4906), which says no more than the URI before it, and upgrades of the contracts are left out. Give a chain with a registration, or with a range of blocks.';
comment on column directory.registry_events.chain is 'Lowercase name of the chain: ';
comment on column directory.registry_events.contract_address is 'The registry that logged it.';
comment on column directory.registry_events.is_official is 'Whether that registry is the one that the authors of the standard deployed, at the same address on every chain.';
comment on column directory.registry_events.event is 'Name of the event: Registered, URIUpdated, MetadataSet, Transfer, Approval, ApprovalForAll; NewFeedback, FeedbackRevoked, ResponseAppended.';
comment on column directory.registry_events.erc8004_id is 'Number of the registration; null: of ApprovalForAll, which is about all that the owner holds.';
comment on column directory.registry_events.args is 'Its arguments, by their names in the contract: addresses and bytes as lowercase hex, uint256, int128 and uint64 as decimal text. Without what is only a hash of another argument. agentURI and newURI are null beyond 8,192 bytes, other texts and bytes are cut at 65,536; what no text of Postgres holds is replaced.';
comment on column directory.registry_events.block_number is 'Its block.';
comment on column directory.registry_events.log_index is 'Log index in the block: with the chain and the block it identifies the event.';
comment on column directory.registry_events.tx_hash is 'The transaction.';
comment on column directory.registry_events.block_timestamp is 'Block time.';
