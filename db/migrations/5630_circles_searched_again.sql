-- Whether clients paid is asked of a registration, and of more than dust. All circles are searched again.
insert into due (kind, key) select 'raters', encode(client, 'hex') from feedback_client;
insert into due (kind, key)
select 'circles', encode(address, 'hex')
  from (select address from feedback_edge union select client from feedback_edge) address;
