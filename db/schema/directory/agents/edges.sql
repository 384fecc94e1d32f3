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

comment on view directory.edges is e'@foreignKey (fid) references directory.agents (fid)|@fieldName agent|@foreignFieldName edges\n@foreignKey (peer_fid) references directory.agents (fid)|@fieldName peer|@foreignFieldName edgesAsPeer\n@name edge\n@behavior -query:resource:connection -query:resource:list\nEdges between agents, each as seen from both of its ends. Agents that follow each other have a row out and a row in.';
comment on column directory.edges.fid is 'The agent’s id in the social network.';
comment on column directory.edges.peer_fid is 'Agent at the other end.';
comment on column directory.edges.kind is 'follows, feedback, settlement, shared_owner, shared_wallet, shared_host or transfer.';
comment on column directory.edges.direction is 'Seen from fid: out, in, or both.';
comment on column directory.edges.chain is 'Lowercase name of the chain; null: the edge is of none.';
comment on column directory.edges.weight is 'How often: settlements, feedbacks, tokens; 1 where nothing is counted.';
comment on column directory.edges.amount_usdc is 'Dollars settled; null for other kinds.';
comment on column directory.edges.first_seen_at is 'When the edge was first seen; null: unknown.';
comment on column directory.edges.last_seen_at is 'When it was last seen; null: unknown.';
