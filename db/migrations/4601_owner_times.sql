-- outside a transaction
-- Keys of the addresses that are an agent's own, with their times.
drop index concurrently if exists income_owner_times;
create unique index concurrently income_owner_times on income_owner (fid, address, because, from_at);
drop index concurrently if exists income_owner_address;
create index concurrently income_owner_address on income_owner (address);
