-- What the last failed attempt of a subject said, for whoever has to find out why; gone with the next answer.
alter table source_state add column last_error text;
