-- Blocks that were read before payments were: a second pass over them finds theirs. Written here for what is there, and
-- gone through by the backfill command.
create table payment_pass (
  chain text not null,
  from_block int not null,
  to_block int not null,                 -- inclusive
  next_block int not null,               -- payments of the blocks below it are there
  first_hash bytea,                      -- null: nothing is read yet
  last_hash bytea,                       -- of the block below next_block
  payments bigint not null default 0,
  amount numeric not null default 0,     -- gross, base units, whatever the token
  checksum numeric(20, 0) not null default 0, -- sum modulo 2^64 over the payments: first eight bytes of the SHA-256 of each
  primary key (chain, from_block)
);
insert into payment_pass (chain, from_block, to_block, next_block)
select chain, lower(blocks), upper(blocks) - 1, lower(blocks)
  from (select chain, unnest(range_agg(int4range(from_block, to_block, '[]'))) as blocks
          from (select chain, 0 as from_block, indexed_block as to_block from chain_state
                 union all
                select b.chain, s.first_block, s.next_block - 1
                  from backfill b join backfill_shard s on s.backfill_id = b.id where s.next_block > s.first_block) done
         where chain in (select chain from settlement_rollup)
         group by chain) ranges;
