-- Of accounts that have to do with no registration a sweep stores what they verify and not when, which costs a request
-- each: such a row has the network's first second in verified_at, until the account is read by itself.
alter table verified_address add column timed boolean not null default true;
