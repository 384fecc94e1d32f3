-- When `npm run backup` last copied this database whole; without a row: never. For the alert on a backup that is overdue.
create table backup_taken (
  taken_at timestamptz primary key
);
create unique index backup_taken_one on backup_taken ((true));
