-- Who could change an agent's registrations when that was looked at last, by whose change an event is noted.
create table agent_control (
  fid bigint primary key,
  digest bytea not null -- SHA-256 of the owners, operators and approved addresses of its registrations
);

alter table directory_event drop constraint directory_event_kind_check;
alter table directory_event add constraint directory_event_kind_check
  check (kind in ('listed', 'delisted', 'claimed', 'unclaimed', 'status', 'control')) not valid;
-- squawk-ignore constraint-missing-not-valid
alter table directory_event validate constraint directory_event_kind_check;
