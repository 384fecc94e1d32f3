-- Of an account that left, no holding of another one says that it has a registration next: that joins it with an address.
create or replace view directory.holdings as
select fid, chain, agent_id as erc8004_id, '0x' || encode(held_by, 'hex') as held_by,
       acquired_block, acquired_log_index, acquired_at, released_block, released_at,
       '0x' || encode(released_tx, 'hex') as released_tx, '0x' || encode(transferred_to, 'hex') as transferred_to,
       case when not exists (select from public.unlisted u where u.fid = h.to_fid) then to_fid end as to_fid, reason
  from public.agent_holding h;
comment on column directory.holdings.to_fid is 'Agent id of who has it next, when known; null also: that account has left the directory.';
