-- Edges between agents, each kept once: with the agent it is derived for, whose other end is the peer.
create table agent_edge (
  fid bigint not null,
  peer bigint not null,
  kind text not null,      -- follows, feedback, settlement, shared_owner, shared_wallet, shared_host, transfer
  direction text not null, -- out, in, both: seen from fid
  chain text,
  weight bigint not null,
  amount numeric,          -- settlements: millionths of a dollar
  first_seen_at timestamptz,
  last_seen_at timestamptz,
  unique nulls not distinct (fid, peer, kind, chain)
);
create index agent_edge_peer on agent_edge (peer);

-- Registrable domains of the hosts that agents name as theirs; platforms with many tenants are left out.
create table agent_site (
  fid bigint not null,
  site text not null,
  primary key (fid, site)
);
create index agent_site_site on agent_site (site);
