-- The accounts of an address are gone through in the order of their numbers.
drop index agent_holding_transferred_to;
create index agent_holding_transferred_to on agent_holding (transferred_to, fid) where transferred_to is not null;
drop index verified_address_address;
create index verified_address_address on verified_address (address, fid);
