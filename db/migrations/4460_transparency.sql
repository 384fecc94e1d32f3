-- The transparency log gets its tables.
create table transparency_entry (
  index bigint primary key,
  subject text not null unique,
  entry bytea not null
);
create trigger transparency_entry_kept before update or delete or truncate on transparency_entry
  for each statement execute function refuse_change();
create table transparency_tile (
  level smallint not null,
  number bigint not null,
  hashes bytea not null,
  primary key (level, number)
);
create table transparency_checkpoint (
  size bigint not null,
  note text not null,
  key text not null
);
create unique index transparency_checkpoint_one on transparency_checkpoint ((true));
