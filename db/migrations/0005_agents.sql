-- Agents as readers see them, written by the enrichment job; `claim` by the API.

create extension if not exists pg_trgm;

-- Derived: one row an agent, recomputed whole in one transaction whenever one of its inputs changed.
create table agent (
  fid bigint primary key,
  handle text,
  display_name text,
  bio text,
  pfp_url text,
  oli text,
  chains text[] not null,              -- names of chains with a current record, in the table's order
  verified_addresses bytea[] not null, -- the current verified set, sorted
  claimed boolean not null,
  claim_method text,
  claimed_at timestamptz,
  agent_status text not null,          -- active, historical, claimed-only
  registered_at timestamptz not null,
  listed_at timestamptz not null,
  registry_event_at timestamptz,       -- newest registry event of a current record
  last_message_at timestamptz,
  last_alive_at timestamptz,
  has_spec boolean not null default false,
  has_codehost boolean not null default false,
  spec_check_status text not null default 'unchecked',
  settlements_30d bigint not null default 0,   -- refreshed every minute, for sorting; the profile counts exactly
  settlements_all bigint not null default 0,
  last_settlement_at timestamptz,
  search text not null,                -- lowercase handle, display name and oli, one a line
  -- Last change of anything a reader sees in this row or its holdings; messages and settlements are activity, not change.
  changed_at timestamptz not null,
  spec_digest uuid,                    -- of what is shown of the documents, to tell a change from none
  enriched_digest uuid                 -- of what is shown of other sources, to tell a change from none
);
create index agent_search on agent using gin (search gin_trgm_ops);
create index agent_newest on agent (listed_at desc, fid desc);
create index agent_oldest on agent (listed_at, fid desc);
create index agent_cross_chain on agent (cardinality(chains) desc, settlements_all desc, fid desc);
create index agent_most_active on agent (settlements_30d desc, settlements_all desc, fid desc);
-- The bulk document and the filter of claimed agents read few of many rows.
create index agent_claimed on agent (claimed_at, fid) where claimed;

-- Derived with `agent`: every holding of a verified address of the fid. reason is null for a current record.
create table agent_holding (
  fid bigint not null,
  chain text not null,
  agent_id numeric(78, 0) not null,
  held_by bytea not null,
  acquired_block int not null,
  acquired_log_index int not null,
  acquired_at timestamptz not null,
  released_block int,
  released_at timestamptz,
  released_tx bytea,
  transferred_to bytea,
  to_fid bigint,
  reason text,                         -- transfer, burn, verification_removed
  token_digest uuid,                   -- of what is shown of the token from other tables, to tell a change from none
  primary key (fid, chain, agent_id, acquired_block, acquired_log_index)
);
create index agent_holding_token on agent_holding (chain, agent_id);
create index agent_holding_transferred_to on agent_holding (transferred_to) where transferred_to is not null;

-- What a mirror has to follow: upsert or delist, in sequence order, which is the order of commits.
create table agent_change (
  seq bigint generated always as identity primary key,
  fid bigint not null,
  kind text not null,
  changed_at timestamptz not null
);
create index agent_change_fid on agent_change (fid, seq desc);

-- Agents to be derived again. Append-only, consumed by the enrichment job.
create table agent_event (
  seq bigint generated always as identity primary key,
  fid bigint not null
);
create index agent_event_fid on agent_event (fid);
create function note_agents() returns trigger language plpgsql as $$
begin
  insert into agent_event (fid) select distinct fid from added;
  return null;
end $$;
create function note_agents_gone() returns trigger language plpgsql as $$
begin
  insert into agent_event (fid) select distinct fid from removed;
  return null;
end $$;

-- Settlements, messages and answers of hosts are activity, not change; what a mirror shows of an agent moves with them
-- all the same. One row an agent, numbered from the sequence of agent_change: together they are what a mirror follows.

create table agent_activity (
  fid bigint primary key,
  seq bigint not null unique
);

-- Everything that writes `agent` holds the join's lock until it ends, so that numbers are handed out in the order of
-- commits here as well.
create function note_activity() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    delete from agent_activity where fid in (select fid from removed);
    return null;
  end if;
  insert into agent_activity (fid, seq)
  select a.fid, nextval(pg_get_serial_sequence('agent_change', 'seq'))
    from added a
    join removed r using (fid)
   where (a.settlements_30d, a.settlements_all, a.last_settlement_at, a.last_message_at, a.last_alive_at)
         is distinct from
         (r.settlements_30d, r.settlements_all, r.last_settlement_at, r.last_message_at, r.last_alive_at)
   order by a.fid
      on conflict (fid) do update set seq = excluded.seq;
  return null;
end $$;
create trigger agent_moved after update on agent
  referencing old table as removed new table as added for each statement execute function note_activity();
create trigger agent_removed after delete on agent
  referencing old table as removed for each statement execute function note_activity();

create table claim (
  fid bigint not null,
  method text not null,            -- eip191, jfs, well-known
  nonce text not null,
  proof json not null,             -- as received
  proof_sha256 bytea not null,
  signer text not null,            -- address, app key or host
  signed_at timestamptz,
  received_at timestamptz not null,
  claimed_at timestamptz not null default now(),
  verified_addresses text[] not null,  -- snapshot
  host_link text,                  -- well-known: what linked the host to the fid
  -- What the claimant was told: a replay is answered with it, whatever became of the agent since.
  agent_status text not null default 'claimed-only', -- active, historical, claimed-only
  primary key (fid, method, nonce)
);
create trigger claim_added after insert on claim
  referencing new table as added for each statement execute function note_agents();
