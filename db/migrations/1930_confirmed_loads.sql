-- Whether the chain's node confirmed what a load found nothing in: a hole in an archive looks like empty blocks.
alter table backfill_shard
  add column confirmed boolean not null default false;
