-- Every check of a document on an agent's host, for a week, and its days, for a quarter. Who writes a check takes away
-- what is too old of the same agent, so that nothing has to be cleaned up beside.
create table spec_probe (
  fid bigint not null,
  checked_at timestamptz not null,
  kind text not null,                    -- as agent_spec
  url text not null,
  alive boolean not null,
  status text not null,                  -- as agent_spec.last_check_status
  http_status int,
  latency_ms int,
  primary key (fid, checked_at, kind, url)
);
create table spec_day (
  fid bigint not null,
  day date not null,                     -- UTC
  kind text not null,
  url text not null,
  checks int not null,
  alive int not null,
  latency_ms int,                        -- median of the checks that found it alive; null: none was answered
  primary key (fid, day, kind, url)
);

create view directory.uptime_checks as
select p.fid, p.kind, p.url, p.checked_at, p.alive, p.status, p.http_status, p.latency_ms
  from public.spec_probe p
 where exists (select from public.agent a where a.fid = p.fid);
comment on view directory.uptime_checks is e'@behavior -*\nEvery check of the machine-readable descriptions on agents’ hosts within the last seven days. Give a fid.';
comment on column directory.uptime_checks.fid is 'The agent’s id in the social network.';
comment on column directory.uptime_checks.kind is 'a2a, mcp, openapi or x402.';
comment on column directory.uptime_checks.url is 'Where it lies.';
comment on column directory.uptime_checks.checked_at is 'When it was asked for.';
comment on column directory.uptime_checks.alive is 'Whether it was there; one that a registration names may also ask for payment or a name.';
comment on column directory.uptime_checks.status is 'ok, auth_required, timeout and the other words of last_check_status.';
comment on column directory.uptime_checks.http_status is 'Status of the answer; null: there was none.';
comment on column directory.uptime_checks.latency_ms is 'Milliseconds until the whole answer was there; null: there was none.';

create view directory.uptime_days as
select d.fid, d.kind, d.url, d.day, d.checks, d.alive, d.latency_ms
  from public.spec_day d
 where exists (select from public.agent a where a.fid = d.fid);
comment on view directory.uptime_days is e'@behavior -*\nChecks of the machine-readable descriptions on agents’ hosts by UTC day, within the last 90 days. Give a fid.';
comment on column directory.uptime_days.fid is 'The agent’s id in the social network.';
comment on column directory.uptime_days.kind is 'a2a, mcp, openapi or x402.';
comment on column directory.uptime_days.url is 'Where it lies.';
comment on column directory.uptime_days.day is 'The UTC day.';
comment on column directory.uptime_days.checks is 'How often it was asked for.';
comment on column directory.uptime_days.alive is 'How often it was there.';
comment on column directory.uptime_days.latency_ms is 'Median of the milliseconds that it took when it was there; null: it was not.';
