-- outside a transaction
-- Keys that begin alike are found as a range, whatever the database sorts text by.
drop index concurrently if exists due_keys;
create index concurrently due_keys on due (kind, key collate "C");
