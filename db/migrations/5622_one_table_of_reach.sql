-- Whose payments and whose ratings were looked at for an address, in one table. It begins empty:
-- the next file has every address searched again.
-- squawk-ignore ban-drop-table
drop table income_reach, feedback_reach;
create table circle_reach (
  kind text not null,
  member bytea not null,
  address bytea not null,
  primary key (kind, member, address)
);
create index circle_reach_address on circle_reach (kind, address);
