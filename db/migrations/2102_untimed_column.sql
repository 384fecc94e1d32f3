-- verified_at says the same now.
-- squawk-ignore ban-drop-column
alter table verified_address drop column timed;
