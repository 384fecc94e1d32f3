-- The column is named after what it names. A partition being loaded has a row, so there are a few at most.
alter table backfill_partition add column staging_table text;
update backfill_partition set staging_table = aside;
-- squawk-ignore adding-not-nullable-field
alter table backfill_partition alter column staging_table set not null;
-- squawk-ignore ban-drop-column
alter table backfill_partition drop column aside;
