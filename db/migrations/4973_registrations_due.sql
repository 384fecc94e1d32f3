-- When each was active and moved last, which only what is derived says.
insert into due (kind, key) select 'searched registrations', chain || ':' || agent_id from registration;
