-- What the newest feedback says is asked for in the search over registrations. All of them are derived again; until then those
-- that got feedback are not found by it.
alter table searched_registration add column feedback_value numeric;
insert into due (kind, key) select 'searched registrations', chain || ':' || agent_id from feedback_total;
