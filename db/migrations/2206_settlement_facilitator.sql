-- Who sent what is in income_sender.
-- squawk-ignore ban-drop-table
drop table settlement_facilitator;
