-- squawk-ignore ban-drop-column
alter table recipient_counts drop column last_24h_amount;
-- squawk-ignore ban-drop-column
alter table recipient_counts drop column last_7d_amount;
-- squawk-ignore ban-drop-column
alter table recipient_counts drop column last_30d_amount;
-- squawk-ignore ban-drop-column
alter table recipient_counts drop column ever_amount;
