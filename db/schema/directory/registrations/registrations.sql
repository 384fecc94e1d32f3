create or replace view directory.registrations as
select r.chain, r.agent_id as erc8004_id, '0x' || encode(r.owner, 'hex') as owner_address, r.burned,
       '0x' || encode(r.agent_wallet, 'hex') as agent_wallet, r.agent_uri,
       r.registered_block as block_number, '0x' || encode(r.registered_tx, 'hex') as tx_hash,
       r.registered_at as deployed_at, r.acquired_at, r.updated_at,
       d.uri_status, d.name, d.description, d.image, d.active, d.x402_support, d.truncated,
       array(select one ->> 'name'
               from public.control_reading k cross join json_array_elements(k.names) with ordinality said (one, place)
              where k.chain = r.chain and k.agent_id = r.agent_id and one ->> 'status' = 'confirmed'
              order by place) as ens_names
  from public.registration r
  left join public.registration_document d using (chain, agent_id);

comment on view directory.registrations is e'@primaryKey chain,erc8004_id\n@name registration\nERC-8004 registrations as they are now, one row each, whoever holds it; with what its document was read as.';
comment on column directory.registrations.chain is 'Lowercase name of the chain: ';
comment on column directory.registrations.erc8004_id is 'Number of the registration; 0 is a real one, and some are beyond 64 bits.';
comment on column directory.registrations.owner_address is 'Who holds the registration; null: it was burned.';
comment on column directory.registrations.burned is 'Whether it is burned.';
comment on column directory.registrations.agent_wallet is 'Wallet its metadata names; null: none.';
comment on column directory.registrations.agent_uri is 'URI of its document; null: none, or longer than is kept.';
comment on column directory.registrations.block_number is 'Block of the mint.';
comment on column directory.registrations.tx_hash is 'Transaction of the mint.';
comment on column directory.registrations.deployed_at is 'Block time of the mint.';
comment on column directory.registrations.acquired_at is 'Block time of the last change of hands.';
comment on column directory.registrations.updated_at is 'Block time of the last event of the registration.';
comment on column directory.registrations.uri_status is 'How reading the document went: ok, pending, empty, unsupported, unreachable, invalid; null: nobody asked yet.';
comment on column directory.registrations.name is 'Name in the document.';
comment on column directory.registrations.description is 'Description in the document.';
comment on column directory.registrations.image is 'Address of the picture in the document; not checked.';
comment on column directory.registrations.active is 'Whether the document says that the agent is active; null: it does not say.';
comment on column directory.registrations.x402_support is 'Whether the document says that x402 payments are taken; null: it does not say.';
comment on column directory.registrations.truncated is 'Lists of the document of which only a part is kept, with how many entries they have; null: there is no document.';
comment on column directory.registrations.ens_names is 'Names of ENS that the document claims and that name the registration too (draft ENSIP-25), as they were last asked; of registrations that no agent holds nothing is asked.';
