-- A transparency log that lost entries is followed by another: docs/log.md.
create table transparency_epoch (
  epoch int primary key check (epoch > 1),
  first bigint not null unique,
  note text not null
);
