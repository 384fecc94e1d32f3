-- Which version of its secret an endpoint's messages are signed with, and since when it is not the one before.
alter table webhook add column secret_version int not null default 1;
alter table webhook add column rotated_at timestamptz;
