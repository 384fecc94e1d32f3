-- When the content of a document that is served whole was first produced: the same on every replica, and after a restart.
create table produced_document (
  name text primary key,
  content_sha256 bytea not null,
  produced_at timestamptz not null
);
