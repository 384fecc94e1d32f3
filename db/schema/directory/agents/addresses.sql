create or replace view directory.addresses as
select fid, '0x' || encode(address, 'hex') as address, nullif(verified_at, '-infinity') as verified_at, ended_at,
       address as address_bytes, verdict, verification_type::int as verification_type, verification_chain as verification_chain_id,
       '0x' || encode(message_hash, 'hex') as message_hash,
       (select h.wallet_chain from public.agent_holding h
         where h.fid = v.fid and h.held_by = v.address and h.wallet_chain is not null and h.reason is null
           and v.ended_at is null
         limit 1) as wallet_chain,
       coalesce(seen_from, verified_at) as counts_from
  from public.verified_address v
 where not exists (select from public.unlisted u where u.fid = v.fid);

comment on view directory.addresses is e'@primaryKey fid,address,counts_from\n@foreignKey (fid) references directory.agents (fid)|@fieldName agent|@foreignFieldName addresses\n@name address\nHistory of verified addresses, of all accounts known, agents or not: one row for each time an address was verified.';
comment on column directory.addresses.fid is 'The agent’s id in the social network.';
comment on column directory.addresses.address is 'The verified address.';
comment on column directory.addresses.verified_at is 'When the account verified it; null: nobody has said it yet.';
comment on column directory.addresses.ended_at is 'When the verification ended; null: it holds now.';
comment on column directory.addresses.address_bytes is e'@behavior -*\nThe address as bytes: conditions on it use an index, those on the text do not.';
comment on column directory.addresses.verdict is 'What checking its message came to: proven, signed or stated; null: it was not seen yet.';
comment on column directory.addresses.verification_type is '0: a key signed; 1: a contract wallet; null: not known.';
comment on column directory.addresses.verification_chain_id is 'Chain of the contract wallet; null: it is not one, or not known.';
comment on column directory.addresses.message_hash is 'Hash of the message that verified it; null: it was not seen yet.';
comment on column directory.addresses.wallet_chain is 'other: it is a contract wallet, and holds registrations on other chains than its verification names; null: it does not.';
comment on column directory.addresses.counts_from is 'Since when it counts as the account’s: verified_at, or when the directory first saw it.';
