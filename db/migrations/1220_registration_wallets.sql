-- Every wallet that the registry stored for a registration, one after the other: what an agent earned by one that was
-- replaced since is known by it. Written by the chain processors, undone and mended like transfers.
create table registration_wallet (
  id text primary key,
  chain text not null,
  agent_id numeric(78, 0) not null,
  wallet bytea,                          -- null: unset, or bytes that hold no address
  block_number int not null,
  log_index int not null,
  block_timestamp timestamptz not null,
  tx_hash bytea,                         -- null: written before transactions were kept
  unique (chain, agent_id, block_number, log_index)
);
create index registration_wallet_block on registration_wallet (chain, block_number);

-- The present wallets are there; those that were replaced are made from the chain's events by its auditor, and so are
-- those of blocks that may be undone yet.
insert into registration_wallet (id, chain, agent_id, wallet, block_number, log_index, block_timestamp, tx_hash)
select m.chain || '-' || m.block_number || '-' || m.log_index, m.chain, m.agent_id,
       case when octet_length(m.value) = 20 then m.value
            when octet_length(m.value) = 32 and substr(m.value, 1, 12) = '\x000000000000000000000000' then substr(m.value, 13) end,
       m.block_number, m.log_index, m.block_timestamp, m.tx_hash
  from registration_metadata m
  join chain_state s on s.chain = m.chain and s.finalized_block >= m.block_number
 where m.key = 'agentWallet'
   -- The bytes of the key: another one may read the same.
   and m.id = m.chain || '-' || m.agent_id || '-' || left(encode(sha256('agentWallet'), 'hex'), 32);
insert into audit_agent (chain, agent_id)
select m.chain, m.agent_id
  from registration_metadata m
  join registration r using (chain, agent_id)
  left join chain_state s on s.chain = m.chain
 where m.key = 'agentWallet'
   and (m.block_number > r.registered_block or m.block_number > coalesce(s.finalized_block, -1))
    on conflict do nothing;

-- Registrations whose wallets changed, for the sums of income. Append-only, so that writers never wait for each other.
create table income_wallet_event (
  seq bigint generated always as identity primary key,
  chain text not null,
  agent_id numeric(78, 0) not null
);
create function note_wallets() returns trigger language plpgsql as $$
begin
  insert into income_wallet_event (chain, agent_id) select distinct chain, agent_id from moved;
  return null;
end $$;
create trigger registration_wallet_added after insert on registration_wallet
  referencing new table as moved for each statement execute function note_wallets();
create trigger registration_wallet_removed after delete on registration_wallet
  referencing old table as moved for each statement execute function note_wallets();

comment on view directory.income is e'@behavior -*\nWhat agents were paid by hour, address, kind and flag: every address that the agent verifies now, and wallets that its registrations named, for as long as they did. Final blocks only, some seconds behind chains.rolled_up_block.';

-- Whose wallets were known by their present value alone is looked at once more.
insert into income_wallet_event (chain, agent_id)
select h.chain, h.agent_id
  from agent_holding h
 where exists (select from registration_wallet w where w.chain = h.chain and w.agent_id = h.agent_id and w.wallet is not null)
 group by 1, 2;
