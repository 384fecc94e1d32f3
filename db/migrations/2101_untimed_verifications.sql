-- The time of a verification that nobody has said was the network's first second, and was told as a fact. It is none now:
-- `-infinity` in the key, which is last in every order of times.
update verified_address set verified_at = '-infinity', seen_from = observed_at where not timed;
