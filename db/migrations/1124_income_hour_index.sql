-- outside a transaction
-- Rankings of the last days read the hours of all agents. One that was broken off is made anew.
drop index concurrently if exists income_hour_hour;
create index concurrently income_hour_hour on income_hour (hour);
