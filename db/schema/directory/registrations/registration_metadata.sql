create or replace view directory.registration_metadata as
select chain, agent_id as erc8004_id, key, '0x' || encode(value, 'hex') as value, block_number, log_index, block_timestamp,
       '0x' || encode(tx_hash, 'hex') as tx_hash
  from public.registration_metadata;

comment on view directory.registration_metadata is e'@behavior -*\nOn-chain metadata of registrations: the present value of each key.';
comment on column directory.registration_metadata.chain is 'Lowercase name of the chain.';
comment on column directory.registration_metadata.erc8004_id is 'Number of the registration.';
comment on column directory.registration_metadata.key is 'Name of the entry, up to 65,536 characters of it; agentWallet is reserved.';
comment on column directory.registration_metadata.value is 'Its bytes as hex, 65,536 of them at most.';
comment on column directory.registration_metadata.block_number is 'Block in which it was set last.';
comment on column directory.registration_metadata.log_index is 'Log index in the block.';
comment on column directory.registration_metadata.block_timestamp is 'Block time.';
comment on column directory.registration_metadata.tx_hash is 'The transaction that set it.';
