-- Payments beside settlements in sums of income, and money that goes round.

-- What each payee got from each payer beside settlements, in dollars of blocks that are rolled up: with settlement_payer
-- it is what rings and pay-backs are found in. Kept by whatever moves payments or the mark of the roll-up, under its lock.
create table payment_sum (
  payee bytea not null,
  payer bytea not null,           -- who signed, never a forwarder
  chain text not null,
  first_at timestamptz not null,  -- times of the oldest and the newest
  last_at timestamptz not null,
  amount numeric(78, 0) not null, -- base units
  primary key (payee, payer, chain)
) with (fillfactor = 85);
create index payment_sum_payer on payment_sum (payer);

-- Payments that are in it. A token may be listed from a block on: what was paid in it before is in no sum.
create view payment_summed as
select p.*
  from payment p
 where p.net > 0
   and exists (select from chain_contract c
                where c.chain = p.chain and c.address = '0x' || encode(p.token, 'hex') and c.from_block <= p.block_number)
   and not exists (select from settlement_unrolled u
                    where u.chain = p.chain and p.block_number between u.from_block and u.to_block);

create function add_payment_sums(more payment_sum[]) returns void language sql as $$
  insert into payment_sum as s (payee, payer, chain, first_at, last_at, amount)
  select payee, payer, chain, first_at, last_at, amount from unnest(more) order by payee, payer, chain
      on conflict (payee, payer, chain) do update
     set first_at = least(s.first_at, excluded.first_at), last_at = greatest(s.last_at, excluded.last_at),
         amount = s.amount + excluded.amount
$$;

-- Makes some sums what their payments say: which is the oldest behind one that goes, nothing else tells.
create function recount_payment_sums(moved payment_sum[]) returns void language plpgsql as $$
begin
  delete from payment_sum s using unnest(moved) m where (s.payee, s.payer, s.chain) = (m.payee, m.payer, m.chain);
  perform add_payment_sums(array(
    select row(m.payee, m.payer, m.chain, found.first_at, found.last_at, found.amount)::payment_sum
      from (select distinct payee, payer, chain from unnest(moved)) m
     cross join lateral (
       select min(p.block_timestamp) as first_at, max(p.block_timestamp) as last_at, sum(p.net) as amount
         from payment_summed p
        where p.payee = m.payee and p.payer = m.payer and p.chain = m.chain
       having count(*) > 0
     ) found));
end $$;

-- Payments that come into blocks that are rolled up, or go from there, under the lock of the roll-up.
create function note_payments() returns trigger language plpgsql as $$
begin
  if not exists (select from moved
                  where not exists (select from settlement_unrolled u
                                     where u.chain = moved.chain and moved.block_number between u.from_block and u.to_block)) then
    return null;
  end if;
  insert into income_due (recipient, chain, hour)
  with rolled as materialized (
    select * from moved
     where not exists (select from settlement_unrolled u
                        where u.chain = moved.chain and moved.block_number between u.from_block and u.to_block)
  )
  select recipient, chain, hour
    from (select payee as recipient, chain, date_trunc('hour', block_timestamp, 'UTC') as hour from rolled
           union
          select further.payee, further.chain, date_trunc('hour', further.block_timestamp, 'UTC')
            from rolled
            join payment further on further.chain = rolled.chain and further.block_number = rolled.block_number
                                and further.origin_log_index = rolled.origin_log_index) hours
   where exists (select from income_address a where a.address = hours.recipient)
   order by 1, 2, 3 on conflict (recipient, chain, hour) do update set hour = excluded.hour;
  if tg_op = 'INSERT' then
    perform add_payment_sums(array(
      select row(p.payee, p.payer, p.chain, min(p.block_timestamp), max(p.block_timestamp), sum(p.net))::payment_sum
        from moved
       cross join lateral (select * from payment_summed s where s.id = moved.id offset 0) p
       group by p.payee, p.payer, p.chain));
  else
    perform recount_payment_sums(array(select distinct row(payee, payer, chain, null, null, null)::payment_sum from moved));
  end if;
  return null;
end $$;
create trigger payment_added after insert on payment
  referencing new table as moved for each statement execute function note_payments();
create trigger payment_removed after delete on payment
  referencing old table as moved for each statement execute function note_payments();

-- Notes the hours of payments in blocks that become rolled up, or are no longer.
create function note_moved_blocks(moved_chain text, first_block bigint, behind_block bigint) returns void language sql as $$
  insert into income_due (recipient, chain, hour)
  select distinct p.payee, p.chain, date_trunc('hour', p.block_timestamp, 'UTC')
    from payment p
   where p.chain = moved_chain and p.block_number >= first_block and p.block_number < behind_block
     and exists (select from income_address a where a.address = p.payee)
   order by 1, 2, 3 on conflict (recipient, chain, hour) do update set hour = excluded.hour
$$;

-- The mark of blocks that are rolled up was moved from one block to another.
create function sum_moved_blocks(moved_chain text, before bigint, now bigint) returns void language plpgsql as $$
begin
  if before < now then
    perform add_payment_sums(array(
      select row(payee, payer, chain, min(block_timestamp), max(block_timestamp), sum(net))::payment_sum
        from payment_summed
       where chain = moved_chain and block_number >= before and block_number < now
       group by payee, payer, chain));
  elsif now <= 0 then
    delete from payment_sum where chain = moved_chain;
  elsif now < before then
    perform recount_payment_sums(array(
      select distinct row(payee, payer, chain, null, null, null)::payment_sum
        from payment
       where chain = moved_chain and block_number >= now and block_number < before));
  end if;
end $$;

create function note_rollup() returns trigger language plpgsql as $$
begin
  perform note_moved_blocks(new.chain, least(old.next_block, new.next_block), greatest(old.next_block, new.next_block));
  perform sum_moved_blocks(new.chain, old.next_block, new.next_block);
  return null;
end $$;
create trigger settlement_rollup_income after update on settlement_rollup
  for each row when (old.next_block <> new.next_block) execute function note_rollup();

create function note_backfill_rollup() returns trigger language plpgsql as $$
declare
  before bigint := (select b.from_block from backfill b where b.id = new.backfill_id);
begin
  if tg_op = 'UPDATE' then
    before := old.next_block;
  end if;
  perform note_moved_blocks(b.chain, least(before, new.next_block), greatest(before, new.next_block)),
          sum_moved_blocks(b.chain, before, new.next_block)
     from backfill b where b.id = new.backfill_id;
  return null;
end $$;
create trigger settlement_rollup_backfill_income after insert or update on settlement_rollup_backfill
  for each row execute function note_backfill_rollup();

-- Money that goes round: payers of an agent's address to whom a part of what the address pays comes back over others.
-- Written by the enrichment job from the sums by payer.
create table income_ring (
  recipient bytea not null, -- an address of an agent
  payer bytea not null,
  primary key (recipient, payer)
);

-- Whose payments were looked at for an address: while nothing of these moves, its rings stand.
create table income_reach (
  payer bytea not null,
  address bytea not null,
  primary key (payer, address)
);
create index income_reach_address on income_reach (address);
