-- Anybody can send tokens to a verified address. What that costs is bounded: readers see the first of an agent's tokens,
-- those of its own making before those it was sent, and agents with very many are derived on the side.

alter table agent_holding
  add column unsolicited boolean not null default false; -- sent by a stranger, and the holder has set nothing since
alter table agent
  add column current_total int not null default 0,       -- tokens it holds now
  add column historical_total int not null default 0;    -- holdings that ended

create index agent_holding_current on agent_holding (fid, unsolicited, chain, agent_id) where reason is null;
create index agent_holding_ended on agent_holding (fid, released_at desc) where reason is not null;

-- Agents with more holdings than the join derives under its lock: what their holdings come to, as last derived.
create table large_holder (
  fid bigint primary key,
  derived_at timestamptz,                -- null: not yet
  changed boolean not null default false, -- the holdings are others than `agent_change` tells
  held boolean not null default false,   -- there is a holding
  current int not null default 0,
  historical int not null default 0,
  chains text[] not null default '{}',
  registered_at timestamptz,
  registry_event_at timestamptz,
  listed_at timestamptz
);
-- Those to be derived again. Append-only: whoever notes one waits for nobody who derives it.
create table large_holder_event (
  seq bigint generated always as identity primary key,
  fid bigint not null
);
create index large_holder_event_fid on large_holder_event (fid);

insert into agent_event (fid) select fid from agent order by fid;
