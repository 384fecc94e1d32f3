-- A search for circles goes half of the way from each side, and what it met on the way back is noted as well. All are searched again.
insert into due (kind, key) select distinct 'circles', encode(address, 'hex') from circle_reach where kind = 'circles';
