-- Whoever rates from an address of an account is rated by feedback on what others of its addresses hold.
insert into due (kind, key)
select distinct 'raters', encode(e.client, 'hex')
  from feedback_client c
  join verified_address v on v.address = c.client
  join verified_address o on o.fid = v.fid
  join feedback_edge e on e.address = o.address;
