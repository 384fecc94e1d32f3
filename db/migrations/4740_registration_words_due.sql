-- Registrations that got much feedback are derived again: their words came to more bytes than a row can hold, and it held
-- wrong ones.
insert into due (kind, key)
select 'searched registrations', chain || ':' || agent_id from feedback_total where standing + revoked >= 300;
