create or replace view directory.spec_checks as
select c.fid, c.spec_check_status, c.checked_at, c.truncated
  from public.agent_spec_check c
 where exists (select from public.agent a where a.fid = c.fid);

comment on view directory.spec_checks is e'@behavior -*\nHow looking for machine-readable descriptions on an agent’s hosts went last.';
comment on column directory.spec_checks.fid is 'The agent’s id in the social network.';
comment on column directory.spec_checks.spec_check_status is 'found, not_found, unreachable or invalid.';
comment on column directory.spec_checks.checked_at is 'When it was looked.';
comment on column directory.spec_checks.truncated is 'Of what the look was at only a part: hosts, places, registrations and documents, with at least how many there are.';
