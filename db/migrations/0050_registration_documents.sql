-- An attempt to read a new URI that fails says so, while the content of the URI before it stays.
alter table registration_document
  alter column uri_sha256 drop not null,       -- null: nothing was ever read
  add column tried_uri_sha256 bytea,           -- of the URI that uri_status is about
  add column etag text,                        -- of the content, from a host that names its versions
  add column last_modified text;

-- Hash of a registration's URI, kept or not: beyond 256 KiB the processors keep the hash alone.
create function uri_sha256(r registration) returns bytea language sql immutable
  return coalesce(r.agent_uri_sha256, sha256(convert_to(coalesce(r.agent_uri, ''), 'UTF8')));
