-- An edge is one between two agents: a row may be there a moment longer than either of them.
create or replace view directory.edges as
select e.fid, e.peer as peer_fid, e.kind, e.direction, e.chain, e.weight, e.amount * 0.000001 as amount_usdc,
       e.first_seen_at, e.last_seen_at
  from public.agent_edge e
 where exists (select from public.agent a where a.fid = e.fid)
   and exists (select from public.agent p where p.fid = e.peer)
 union all
select e.peer, e.fid, e.kind, case e.direction when 'out' then 'in' when 'in' then 'out' else e.direction end, e.chain,
       e.weight, e.amount * 0.000001, e.first_seen_at, e.last_seen_at
  from public.agent_edge e
 where exists (select from public.agent a where a.fid = e.fid)
   and exists (select from public.agent p where p.fid = e.peer);
