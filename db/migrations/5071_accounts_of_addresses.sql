-- outside a transaction
-- The accounts of an address are gone through in the order of their numbers.
drop index concurrently if exists verified_address_address;
create index concurrently verified_address_address on verified_address (address, fid);
