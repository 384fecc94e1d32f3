create or replace view directory.transfers as
select chain, agent_id as erc8004_id, '0x' || encode("from", 'hex') as from_address,
       '0x' || encode("to", 'hex') as to_address, block_number, log_index, block_timestamp,
       '0x' || encode(tx_hash, 'hex') as tx_hash, "to" as to_bytes
  from public.registration_transfer;

comment on view directory.transfers is e'@behavior -*\nEvery change of hands of a registration, mints and burns included.';
comment on column directory.transfers.chain is 'Lowercase name of the chain.';
comment on column directory.transfers.erc8004_id is 'Number of the registration.';
comment on column directory.transfers.from_address is 'Who had it; null: it was minted.';
comment on column directory.transfers.to_address is 'Who got it; null: it was burned.';
comment on column directory.transfers.block_number is 'Block of the transfer.';
comment on column directory.transfers.log_index is 'Log index in the block.';
comment on column directory.transfers.block_timestamp is 'Block time.';
comment on column directory.transfers.tx_hash is 'The transaction.';
comment on column directory.transfers.to_bytes is 'The receiver as bytes: conditions on it use an index, those on the text do not.';
