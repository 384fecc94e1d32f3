-- An account that left keeps its holdings for when it comes back. Nobody reads them until then: each joins it with an
-- address.
create or replace view directory.holdings as
select fid, chain, agent_id as erc8004_id, '0x' || encode(held_by, 'hex') as held_by,
       acquired_block, acquired_log_index, acquired_at, released_block, released_at,
       '0x' || encode(released_tx, 'hex') as released_tx, '0x' || encode(transferred_to, 'hex') as transferred_to,
       case when not exists (select from public.unlisted u where u.fid = h.to_fid) then to_fid end as to_fid, reason,
       wallet_chain
  from public.agent_holding h
 where not exists (select from public.unlisted u where u.fid = h.fid);

comment on view directory.holdings is e'@primaryKey fid,chain,erc8004_id,acquired_block,acquired_log_index\n@foreignKey (fid) references directory.agents (fid)|@fieldName agent|@foreignFieldName holdings\n@foreignKey (chain, erc8004_id) references directory.registrations (chain, erc8004_id)|@fieldName registration|@foreignFieldName holdings\n@name holding\nTimes at which a verified address of an agent held an identity, past ones included.';
comment on column directory.holdings.fid is 'The agent’s id in the social network.';
comment on column directory.holdings.chain is 'Lowercase name of the chain: ';
comment on column directory.holdings.erc8004_id is 'Number of the registration.';
comment on column directory.holdings.held_by is 'The verified address that holds or held it.';
comment on column directory.holdings.acquired_block is 'Block of the transfer that brought it.';
comment on column directory.holdings.acquired_log_index is 'Log index of that transfer.';
comment on column directory.holdings.acquired_at is 'Block time of that transfer.';
comment on column directory.holdings.released_block is 'Block of the transfer that took it; null: none did.';
comment on column directory.holdings.released_at is 'When the holding ended; null: it is current.';
comment on column directory.holdings.released_tx is 'Transaction that took it; null: none did.';
comment on column directory.holdings.transferred_to is 'Who has it next; null: nobody, or it was not transferred.';
comment on column directory.holdings.to_fid is 'Agent id of who has it next, when known; null also: that account has left the directory.';
comment on column directory.holdings.reason is 'Why the holding ended: transfer, burn, verification_removed; null: it is current.';
comment on column directory.holdings.wallet_chain is 'other: the holder is a contract wallet, and the registration is on another chain than its verification names; null: it is not.';
