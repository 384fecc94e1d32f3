alter table searched_registration add column active_at timestamptz;
alter table searched_registration add column moved_at timestamptz;
