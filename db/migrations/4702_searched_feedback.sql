-- What the newest feedback says is asked for in the search over registrations.
alter table searched_registration add column feedback_value numeric;
