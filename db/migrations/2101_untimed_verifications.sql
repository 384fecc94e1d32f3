-- The time of a verification that nobody has said was the network's first second, and was told as a fact. It is none now:
-- `-infinity` in the key, which is last in every order of times. Readers go on meanwhile. Agents need not be derived anew:
-- rows without a time are of accounts that have to do with no registration.
alter table verified_address disable trigger verified_address_changed;
update verified_address set verified_at = '-infinity', seen_from = observed_at where not timed;
alter table verified_address enable trigger verified_address_changed;
