-- Sums of settlements and payments become exact deltas: whatever adds to them or takes off does so in its own statements,
-- and nothing counts an address again. The sums over all recipients are written with the others, not by triggers.
drop trigger settlement_hourly_added on settlement_hourly;
drop trigger settlement_hourly_changed on settlement_hourly;
drop trigger settlement_hourly_removed on settlement_hourly;
drop trigger settlement_hourly_emptied on settlement_hourly;
drop function sum_hours();
drop trigger settlement_facilitator_added on settlement_facilitator;
drop trigger settlement_facilitator_changed on settlement_facilitator;
drop trigger settlement_facilitator_removed on settlement_facilitator;
drop trigger settlement_facilitator_emptied on settlement_facilitator;
drop function sum_facilitators();
drop function refit_facilitators(bytea[]);

create or replace function refuse_other_sums() returns trigger language plpgsql as $$
begin
  if coalesce(current_setting('directory.sums', true), '') <> 'hours, totals, payers, senders, first payments, sums of all' then
    raise exception 'this program does not keep the sums of settlements that this database has; update it';
  end if;
  return new;
end $$;

-- Settlements of a recipient, a payer or a facilitator from a block on, nearest first: a cursor, which the caller closes.
create function settlements_along(of_chain text, role text, address bytea, block int, is_upwards boolean)
  returns refcursor language plpgsql stable set plan_cache_mode = force_generic_plan set enable_sort = off as $$
declare
  list refcursor;
begin
  case role when 'recipient' then
    if is_upwards then
      open list for select s.* from settlement s
        where s.chain = of_chain and s.recipient = address and s.block_number >= block order by s.block_number;
    else
      open list for select s.* from settlement s
        where s.chain = of_chain and s.recipient = address and s.block_number <= block order by s.block_number desc;
    end if;
  when 'payer' then
    if is_upwards then
      open list for select s.* from settlement s
        where s.chain = of_chain and s.payer = address and s.block_number >= block order by s.block_number;
    else
      open list for select s.* from settlement s
        where s.chain = of_chain and s.payer = address and s.block_number <= block order by s.block_number desc;
    end if;
  when 'facilitator' then
    if is_upwards then
      open list for select s.* from settlement s
        where s.chain = of_chain and s.facilitator = address and s.block_number >= block order by s.block_number;
    else
      open list for select s.* from settlement s
        where s.chain = of_chain and s.facilitator = address and s.block_number <= block order by s.block_number desc;
    end if;
  end case;
  return list;
end $$;

-- When a settlement goes that was the first or the last of a sum, its neighbour takes its place: the time of the nearest one
-- of the sum from the block and time on; null: there is none. `role` is payer or facilitator, and `other` that address;
-- `received_by` is null for the sum over all recipients. Either address of a pair may have millions of settlements with
-- others, so those of both are read, one of each in turn, until one is of the pair. `left_n` is how many settlements the
-- sum still has: when all of them are archived, the archive tells which is the last.
create function nearest_settlement(of_chain text, received_by bytea, role text, other bytea, as_overload boolean,
                                   with_amount boolean, left_n bigint, block int, at timestamptz, is_upwards boolean)
  returns timestamptz language plpgsql stable as $$
declare
  kept record;
  list refcursor;
  others refcursor;
  one settlement;
begin
  if not is_upwards and received_by is not null and exists (select from settlement_archive where chain = of_chain) then
    select sum(a.n) as n, max(a.last_at) as last_at
      into kept
      from settlement_archive_sum a
      join settlement_archive r on r.chain = a.chain and r.from_block = a.archive_block
     where a.chain = of_chain and a.recipient = received_by and a.overload = as_overload
       and other = case role when 'payer' then a.payer else a.facilitator end;
    if kept.n = left_n then
      return kept.last_at;
    end if;
  end if;
  -- Another one of the same second may be on either side of the block.
  list := case when received_by is null then settlements_along(of_chain, role, other, block, not is_upwards)
               else settlements_along(of_chain, 'recipient', received_by, block, not is_upwards) end;
  loop
    fetch list into one;
    exit when not found or one.block_timestamp <> at;
    block := one.block_number;
  end loop;
  close list;
  others := settlements_along(of_chain, role, other, block, is_upwards);
  if received_by is not null then
    list := settlements_along(of_chain, 'recipient', received_by, block, is_upwards);
  end if;
  for turn in 1 .. 2000000000 loop
    if turn % 2 = 0 then
      continue when received_by is null;
      fetch list into one;
    else
      fetch others into one;
    end if;
    exit when not found
           or other = case role when 'payer' then one.payer else one.facilitator end
              and one.recipient = coalesce(received_by, one.recipient)
              and as_overload <> (one.selector in ('\xe3ee160e', '\xef55bec6')) and (one.amount > 0 or not with_amount)
              and not exists (select from settlement_unrolled u
                               where u.chain = of_chain and one.block_number between u.from_block and u.to_block);
  end loop;
  close others;
  if received_by is not null then
    close list;
  end if;
  return one.block_timestamp;
end $$;

create function is_summed(p payment) returns boolean language sql stable as $$
  select p.net > 0
     and exists (select from chain_contract c
                  where c.chain = p.chain and c.address = '0x' || encode(p.token, 'hex') and c.from_block <= p.block_number)
     and not exists (select from settlement_unrolled u
                      where u.chain = p.chain and p.block_number between u.from_block and u.to_block)
$$;


create or replace view payment_summed as select * from payment p where is_summed(p);

-- As `nearest_settlement`: the time of the payment that follows one that is gone as the first or the last of its sum.
create function nearest_payment(to_payee bytea, by_payer bytea, of_chain text, block int, at timestamptz, is_upwards boolean)
  returns timestamptz language plpgsql stable set plan_cache_mode = force_generic_plan set enable_sort = off as $$
declare
  paid refcursor;
  given refcursor;
  one payment;
begin
  if is_upwards then
    block := coalesce((select p.block_number + 1 from payment p
                        where p.payer = by_payer and p.chain = of_chain and p.block_number < block and p.block_timestamp < at
                        order by p.block_number desc limit 1), 0);
    open paid for select p.* from payment p where p.payee = to_payee and p.block_timestamp >= at
                   order by p.block_timestamp, p.chain, p.block_number, p.log_index;
    open given for select p.* from payment p where p.payer = by_payer and p.block_number >= block order by p.block_number;
  else
    block := coalesce((select p.block_number - 1 from payment p
                        where p.payer = by_payer and p.chain = of_chain and p.block_number > block and p.block_timestamp > at
                        order by p.block_number limit 1), 2147483647);
    open paid for select p.* from payment p where p.payee = to_payee and p.block_timestamp <= at
                   order by p.block_timestamp desc, p.chain desc, p.block_number desc, p.log_index desc;
    open given for select p.* from payment p where p.payer = by_payer and p.block_number <= block order by p.block_number desc;
  end if;
  for turn in 1 .. 2000000000 loop
    if turn % 2 = 0 then
      fetch paid into one;
    else
      fetch given into one;
    end if;
    exit when not found or (one.payee, one.payer, one.chain) = (to_payee, by_payer, of_chain) and is_summed(one);
  end loop;
  close paid;
  close given;
  return one.block_timestamp;
end $$;

create function subtract_payment_sums(less payment[]) returns void language sql as $$
  with gone as materialized (
    select payee, payer, chain, min(block_number) as first_block, max(block_number) as last_block,
           min(block_timestamp) as first_at, max(block_timestamp) as last_at, sum(net) as amount
      from unnest(less) p
     where is_summed(p)
     group by payee, payer, chain
  ),
  kept as materialized (
    select s.payee, s.payer, s.chain, s.amount - gone.amount as amount,
           case when s.amount = gone.amount or gone.first_at > s.first_at then s.first_at else coalesce(
             nearest_payment(s.payee, s.payer, s.chain, gone.first_block, gone.first_at, true), s.first_at) end as first_at,
           case when s.amount = gone.amount or gone.last_at < s.last_at then s.last_at else coalesce(
             nearest_payment(s.payee, s.payer, s.chain, gone.last_block, gone.last_at, false), s.last_at) end as last_at
      from gone
      join payment_sum s using (payee, payer, chain)
  ),
  removed as (
    delete from payment_sum s using kept
     where (s.payee, s.payer, s.chain) = (kept.payee, kept.payer, kept.chain) and kept.amount = 0
  )
  update payment_sum s
     set first_at = kept.first_at, last_at = kept.last_at, amount = kept.amount
    from kept
   where (s.payee, s.payer, s.chain) = (kept.payee, kept.payer, kept.chain) and kept.amount <> 0
$$;

create or replace function note_payments() returns trigger language plpgsql as $$
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
    perform subtract_payment_sums(array(select moved::payment from moved));
  end if;
  return null;
end $$;

create or replace function sum_moved_blocks(moved_chain text, before bigint, now bigint) returns void language plpgsql as $$
begin
  if before < now then
    perform add_payment_sums(array(
      select row(payee, payer, chain, min(block_timestamp), max(block_timestamp), sum(net))::payment_sum
        from payment_summed
       where chain = moved_chain and block_number >= before and block_number < now
       group by payee, payer, chain));
  elsif now <= 0 then
    delete from payment_sum where chain = moved_chain;
  end if;
end $$;

drop function recount_payment_sums(payment_sum[]);
