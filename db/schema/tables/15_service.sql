-- What the service keeps for itself.

-- When each of the last contents of a document that is served whole was first produced: while two processes produce
-- different ones, each keeps its own time.
create table produced_content (
  name text,
  content_sha256 bytea,
  produced_at timestamptz not null,
  primary key (name, content_sha256)
);

-- What is true of this database as a whole, in one row.
create table service_state (
  -- Which log a mirror follows: another database counts its changes from 1 again, and has another epoch. So has a server that
  -- was promoted or restored, which goes on along another timeline, and a copy of the rows in another system: numbers that were
  -- given out before may be given out again there, to other changes.
  epoch uuid not null default gen_random_uuid(),
  system_identifier bigint not null, -- where the epoch was made
  timeline text not null,
  -- When `npm run backup` last copied this database whole; null: never. For the alert on a backup that is overdue.
  backup_taken_at timestamptz
);
create unique index service_state_one on service_state ((true));
insert into service_state (system_identifier, timeline)
select system_identifier, left(pg_walfile_name(pg_current_wal_flush_lsn()), 8) from pg_control_system();
