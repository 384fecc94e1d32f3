-- When each of the last contents of a document was first produced: while two processes produce different ones, each keeps
-- its own time. Replaces produced_document, which is for the last release alone.
create table produced_content (
  name text,
  content_sha256 bytea,
  produced_at timestamptz not null,
  primary key (name, content_sha256)
);
insert into produced_content (name, content_sha256, produced_at)
select name, content_sha256, produced_at from produced_document;
