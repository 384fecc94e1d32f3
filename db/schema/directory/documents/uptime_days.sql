create or replace view directory.uptime_days as
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
