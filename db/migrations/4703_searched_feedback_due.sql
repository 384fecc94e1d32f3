-- Registrations that got feedback are derived again, with its clients, tags and mean value; until then they are not found by
-- these.
insert into due (kind, key) select 'searched registrations', chain || ':' || agent_id from feedback_total;
