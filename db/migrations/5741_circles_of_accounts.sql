-- Circles are of so many accounts, not addresses. Those are searched again whose search saw an address of one.
insert into due (kind, key)
select distinct 'circles', encode(r.address, 'hex')
  from circle_reach r
 where r.kind = 'circles' and exists (select from verified_address v where v.address = r.member);
