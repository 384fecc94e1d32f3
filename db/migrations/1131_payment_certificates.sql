-- What a backfill found beside settlements, in its certificate. Null: blocks of the shard were loaded before it was kept.
alter table backfill_shard
  add column payments bigint,
  add column payment_checksum numeric(20, 0); -- sum modulo 2^64 over the payments: first eight bytes of the SHA-256 of each
update backfill_shard set payments = 0, payment_checksum = 0 where next_block = first_block;
alter table backfill_shard
  alter column payments set default 0,
  alter column payment_checksum set default 0;

-- The checksum of a second pass is made in the same way now: passes begin anew, and add nothing twice.
update payment_pass
   set next_block = from_block, first_hash = null, last_hash = null, payments = 0, amount = 0, checksum = 0;
