-- Where the epoch of the log was made. A server that was promoted or restored goes on along another timeline, and a copy
-- of the rows in another server has another system: numbers that were given out before may be given out again there, to
-- other changes, so readers are told another epoch.
alter table change_epoch add column system_identifier bigint, add column timeline text;
update change_epoch
   set system_identifier = (select system_identifier from pg_control_system()),
       timeline = left(pg_walfile_name(pg_current_wal_flush_lsn()), 8);
alter table change_epoch alter column system_identifier set not null, alter column timeline set not null;
