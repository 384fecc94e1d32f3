-- Every address that rings or circles are searched for, as `circle_reach` begins empty.
insert into due (kind, key) select distinct 'rings', encode(address, 'hex') from income_address;
insert into due (kind, key) select distinct 'circles', encode(address, 'hex') from feedback_edge;
