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

-- Edges are derived anew for agents of which, or around which, something has changed; once a day for everybody, in case
-- a reason was overlooked.

-- Agents to be looked at. Append-only, consumed by the enrichment job.
create table edge_event (
  seq bigint generated always as identity primary key,
  fid bigint not null
);
create index edge_event_fid on edge_event (fid);

create table edge_derivation (
  fid bigint primary key,
  digest uuid,          -- of what others' edges to the agent depend on; null: nobody has looked yet
  due boolean not null, -- its own edges are to be derived
  derived_at timestamptz
);
create index edge_derivation_due on edge_derivation (fid) where due;
create index edge_derivation_stalest on edge_derivation (derived_at) where not due;

create function note_edge_events() returns trigger language plpgsql as $$
begin
  insert into edge_event (fid) select distinct fid from changed;
  return null;
end $$;
create trigger social_follow_added after insert on social_follow
  referencing new table as changed for each statement execute function note_edge_events();
create trigger social_follow_changed after update on social_follow
  referencing new table as changed for each statement execute function note_edge_events();
create trigger social_follow_removed after delete on social_follow
  referencing old table as changed for each statement execute function note_edge_events();

-- Most payers and most recipients are no agent's. Who becomes an agent later brings what was paid before along.
--
-- A session keeps the plan of a trigger's first statement. The first may come while there is hardly an address, and be
-- planned to read all of them; by that plan a million sums of a loaded range read all of them a million times. So this
-- statement, as that of `note_income_hours`, is planned for the rows that moved and the tables as
-- they are.
create function note_paid_agents() returns trigger language plpgsql as $$
begin
  execute $planned$
    insert into edge_event (fid)
    select distinct v.fid
      from (select distinct recipient, payer from changed) c
      join verified_address v on v.address = c.recipient and v.ended_at is null
     where exists (select from agent a where a.fid = v.fid)
       and exists (select from verified_address p join agent a on a.fid = p.fid
                    where p.address = c.payer and p.ended_at is null and p.fid <> v.fid)
  $planned$;
  return null;
end $$;
create trigger settlement_payer_added after insert on settlement_payer
  referencing new table as changed for each statement execute function note_paid_agents();
create trigger settlement_payer_changed after update on settlement_payer
  referencing new table as changed for each statement execute function note_paid_agents();
create trigger settlement_payer_removed after delete on settlement_payer
  referencing old table as changed for each statement execute function note_paid_agents();
