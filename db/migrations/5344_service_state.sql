-- One row for what is true of the database as a whole; it keeps its epoch, so mirrors notice nothing.
create table service_state (
  epoch uuid not null default gen_random_uuid(),
  system_identifier bigint not null,
  timeline text not null,
  backup_taken_at timestamptz
);
create unique index service_state_one on service_state ((true));
insert into service_state (epoch, system_identifier, timeline, backup_taken_at)
select epoch, system_identifier, timeline, (select taken_at from backup_taken) from change_epoch;
-- squawk-ignore ban-drop-table
drop table change_epoch;
-- squawk-ignore ban-drop-table
drop table backup_taken;
