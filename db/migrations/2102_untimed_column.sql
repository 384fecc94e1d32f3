-- Rows that a process of before wrote since, then the column: verified_at says the same now.
update verified_address set verified_at = '-infinity', seen_from = observed_at where not timed;
-- squawk-ignore ban-drop-column
alter table verified_address drop column timed;
