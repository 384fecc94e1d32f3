// What certificates say of blocks: of backfills, whose shards add up, and of audits.

/** A sum modulo 2^64 as sixteen hex digits: a bigint has a sign, which the sum has not. */
export const hexSum = (sum: string) =>
  `lpad(to_hex((${sum} - case when ${sum} >= 9223372036854775808 then 18446744073709551616 else 0 end)::bigint), 16, '0')`

/** SQL: what the shards of a backfill `b` come to. */
export const loadedByShards = `
       select sum(s.settlements) as settlements, sum(s.amount) as amount,
              sum(s.checksum) % 18446744073709551616 as checksum,
              sum(s.payments) as payments,
              sum(s.payment_checksum) % 18446744073709551616 as payment_checksum,
              (array_agg(s.first_hash order by s.first_block))[1] as first_hash,
              (array_agg(s.last_hash order by s.first_block desc))[1] as last_hash,
              bool_and(s.confirmed) as confirmed
         from backfill_shard s where s.backfill_id = b.id`
