-- What the service keeps for itself.

-- When each of the last contents of a document that is served whole was first produced: while two processes produce
-- different ones, each keeps its own time.
create table produced_content (
  name text,
  content_sha256 bytea,
  produced_at timestamptz not null,
  primary key (name, content_sha256)
);

-- When `npm run backup` last copied this database whole; without a row: never. For the alert on a backup that is overdue.
create table backup_taken (
  taken_at timestamptz primary key
);
create unique index backup_taken_one on backup_taken ((true));
