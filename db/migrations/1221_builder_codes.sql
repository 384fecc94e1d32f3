-- What the calldata of a transaction says at its end about who had a part in it (ERC-8021, schema 2), for each settlement
-- and payment in it. Self-declared. Written by the chain processors and the backfill.
create table builder_code (
  id text primary key,
  chain text not null,
  block_number int not null,
  log_index int not null,                -- of the settlement or payment
  facilitator text,
  app text,                              -- the seller's
  services text[] not null,              -- further participants
  unique (chain, block_number, log_index)
);

-- It is evidence of x402, so hours that are summed up are summed up anew; under the lock of the roll-up.
create function note_builder_codes() returns trigger language plpgsql as $$
begin
  insert into income_due (recipient, chain, hour)
  with rolled as materialized (
    select chain, block_number, log_index from moved
     where not exists (select from settlement_unrolled u
                        where u.chain = moved.chain and moved.block_number between u.from_block and u.to_block)
  )
  select recipient, chain, hour
    from (select s.recipient, s.chain, date_trunc('hour', s.block_timestamp, 'UTC') as hour
            from rolled
            join settlement s using (chain, block_number, log_index)
           union
          select p.payee, p.chain, date_trunc('hour', p.block_timestamp, 'UTC')
            from rolled
            join payment p using (chain, block_number, log_index)) hours
   where exists (select from income_address a where a.address = hours.recipient)
   order by 1, 2, 3 on conflict (recipient, chain, hour) do update set hour = excluded.hour;
  return null;
end $$;
create trigger builder_code_added after insert on builder_code
  referencing new table as moved for each statement execute function note_builder_codes();
create trigger builder_code_removed after delete on builder_code
  referencing old table as moved for each statement execute function note_builder_codes();

-- Blocks that were read before are gone through once more by the second pass, which adds no payment twice.
delete from payment_pass;
insert into payment_pass (chain, from_block, to_block, next_block)
select chain, lower(blocks), upper(blocks) - 1, lower(blocks)
  from (select chain, unnest(range_agg(int4range(from_block, to_block, '[]'))) as blocks
          from (select chain, 0 as from_block, indexed_block as to_block from chain_state
                 union all
                select b.chain, s.first_block, s.next_block - 1
                  from backfill b join backfill_shard s on s.backfill_id = b.id where s.next_block > s.first_block) done
         where chain in (select chain from settlement_rollup)
         group by chain) ranges;

comment on column directory.income.x402 is 'Whether a known facilitator sent it, one of x402’s own contracts settled it, or the calldata of its transaction names who had a part in it.';
comment on column directory.income_daily.x402_amount_usdc is 'Dollars of which something says that they are x402, whoever paid: the sender, the contract or the calldata.';
