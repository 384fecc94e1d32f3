-- Blocks of a partition set aside whose settlements, written by others than the backfill, stand in its aside too. They are
-- final, so that the exchange itself has only the newest to move.
alter table backfill_partition add column copied int4multirange not null default '{}';
