-- squawk-ignore ban-drop-table
drop table income_due;
