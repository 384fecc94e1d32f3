-- Dust makes nobody a funder, and no client one that paid. All clients are looked at again, and who funded them.
insert into due (kind, key) select 'raters', encode(client, 'hex') from feedback_client;
insert into due (kind, key)
select distinct 'rater groups', 'shared_funder:' || encode(funder, 'hex') from feedback_client where funder is not null;
