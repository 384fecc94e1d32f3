-- Income of an hour is told apart by whether another agent had the same money before, and has payments in tokens that are
-- no dollars.
alter table income_hour add column passed_on boolean not null default false;
alter table income_hour add column other_n bigint not null default 0;
alter table income_total add column other_n bigint not null default 0;
