create or replace view directory.uptime_checks as
select p.fid, p.kind, p.url, p.checked_at, p.alive, p.status, p.http_status, p.latency_ms, p.answers
  from public.spec_probe p
 where exists (select from public.agent a where a.fid = p.fid);

comment on view directory.uptime_checks is e'@behavior -*\nEvery check of the machine-readable descriptions on agents’ hosts within the last seven days. Give a fid.';
comment on column directory.uptime_checks.fid is 'The agent’s id in the social network.';
comment on column directory.uptime_checks.kind is 'a2a, mcp, openapi or x402.';
comment on column directory.uptime_checks.url is 'Where it lies.';
comment on column directory.uptime_checks.checked_at is 'When it was asked for.';
comment on column directory.uptime_checks.alive is 'Whether what it describes answered, or asked for payment or a name; where nobody asked it, whether the description was there.';
comment on column directory.uptime_checks.status is 'ok, auth_required, timeout and the other words of last_check_status.';
comment on column directory.uptime_checks.http_status is 'Status of the answer; null: there was none.';
comment on column directory.uptime_checks.latency_ms is 'Milliseconds until the whole answer was there; null: there was none.';
comment on column directory.uptime_checks.answers is 'How what it describes answered: in the words of directory.specs.answers; null: nobody asked.';
