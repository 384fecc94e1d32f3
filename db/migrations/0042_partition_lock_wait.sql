-- A new partition locks the chain's settlements for a moment; behind a long reader it had better be made later than
-- let every other reader wait.
alter function ensure_settlement_partitions(text, int) set lock_timeout = '3s';
