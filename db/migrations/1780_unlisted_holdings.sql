-- An account that left keeps its holdings for when it comes back. Nobody reads them until then: each joins it with an
-- address.
create or replace view directory.holdings as
select fid, chain, agent_id as erc8004_id, '0x' || encode(held_by, 'hex') as held_by,
       acquired_block, acquired_log_index, acquired_at, released_block, released_at,
       '0x' || encode(released_tx, 'hex') as released_tx, '0x' || encode(transferred_to, 'hex') as transferred_to,
       case when not exists (select from public.unlisted u where u.fid = h.to_fid) then to_fid end as to_fid, reason
  from public.agent_holding h
 where not exists (select from public.unlisted u where u.fid = h.fid);
