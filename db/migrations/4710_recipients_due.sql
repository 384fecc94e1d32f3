-- What addresses were paid is derived address by address, of those that moved.
alter table recipient_counts
  add column unsummed boolean not null default false,
  add column overloads boolean not null default false,
  add column counted_at timestamptz not null default '-infinity';
