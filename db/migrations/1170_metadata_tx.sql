-- In which transaction a metadata value was set: what named a wallet can be looked up, and the wallet's signature with it.
alter table registration_metadata add column tx_hash bytea; -- null: written before transactions were kept

create or replace view directory.registration_metadata as
select chain, agent_id as erc8004_id, key, '0x' || encode(value, 'hex') as value, block_number, log_index, block_timestamp,
       '0x' || encode(tx_hash, 'hex') as tx_hash
  from public.registration_metadata;
comment on column directory.registration_metadata.tx_hash is 'The transaction that set it; null: written before transactions were kept.';
