-- The transparency log (docs/log.md): facts that nobody is to change afterwards, as entries of one Merkle tree. The marks of
-- what is still to be appended are committed with each fact; one appender at a time numbers entries without gaps.

create table transparency_entry (
  index bigint primary key,     -- 0, 1, 2 … without gaps, through all logs
  subject text not null unique, -- key of the fact, as in db/due/kinds.ts, behind the number of a later log: none is in a log twice
  entry bytea not null          -- canonical JSON (RFC 8785) with digests and numbers, without words of anybody
);
create trigger transparency_entry_kept before update or delete or truncate on transparency_entry
  for each statement execute function refuse_change();

-- Logs behind the first: one begins when entries of the log before are lost, and has entries from a number on. Without a row,
-- the first log is the one that there is.
create table transparency_epoch (
  epoch int primary key check (epoch > 1), -- its log's number
  first bigint not null unique,            -- its first entry, which commits to the log before
  note text not null                       -- the last checkpoint of the log before that is known, as it was signed
);

-- Hashes of the tree, in tiles as C2SP tlog-tiles lays them out. They follow from the entries.
create table transparency_tile (
  level smallint not null,
  number bigint not null,
  hashes bytea not null,        -- 32 bytes each, 256 at most
  primary key (level, number)
);

-- What the log last signed; without a row: nothing.
create table transparency_checkpoint (
  size bigint not null,         -- entries in the signed tree
  note text not null,           -- C2SP tlog-checkpoint, signed
  key text not null             -- whose signature it is: name, id and public key, as C2SP signed-note writes them
);
create unique index transparency_checkpoint_one on transparency_checkpoint ((true));
