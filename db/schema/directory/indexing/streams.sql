create or replace view directory.streams as
select source, shard, updated_at from public.source_cursor;

comment on view directory.streams is e'@behavior -*\nWhen streams and sweeps of sources last moved.';
comment on column directory.streams.source is 'Name of the stream or sweep.';
comment on column directory.streams.shard is 'Its part.';
comment on column directory.streams.updated_at is 'When it last moved.';
