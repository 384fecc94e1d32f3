-- The auditor reads the events of the registries and of the IdRegistry again too.
alter table audit_certificate
  add column events int not null default 0,   -- of these contracts in the range
  add column agents int not null default 0,   -- tokens whose rows did not say what the events do
  add column custody int not null default 0;  -- changes of custody that were missing, too many or otherwise

-- Tokens with rows that do not say what the chain's events do: their rows are made anew from all of their events, once
-- none of these is newer than what the history source has.
create table audit_agent (
  chain text not null,
  agent_id numeric(78, 0) not null,
  noted_at timestamptz not null default clock_timestamp(), -- or when it was last put off
  primary key (chain, agent_id)
);
