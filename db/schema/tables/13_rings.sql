-- Payments besides settlements in sums of income, and money that goes round.

-- What each payee got from each payer besides settlements, in dollars of blocks that are rolled up: with settlement_payer
-- it is what rings, pay-backs and paying clients are found in. What a payee has of it is `amount` less `refunded`; what a payer
-- paid, fees included, is `amount` and `fees`: one to whom all of that went back paid nothing (`has_paid`). By whose money it was, so
-- that what an agent's own paid over another's key is told apart.
-- Kept by whatever moves payments or the mark of the roll-up, under its lock.
create table payment_sum (
  payee bytea not null,
  payer bytea not null,           -- who signed, never a forwarder
  chain text not null,
  first_at timestamptz not null,  -- times of the oldest and the newest payment; infinity, -infinity: only refunds are known
  last_at timestamptz not null,
  amount numeric(78, 0) not null, -- of the payments, base units
  refunded numeric(78, 0) not null default 0, -- what went back of them, fees included
  funder bytea not null default '', -- as of payment; empty: the payer's own money
  -- What escrows took of what the payer paid, of payments too of which nothing came to the payee; null: not counted yet, as
  -- of sums from before this column. They are once something goes back: the kind `escrow fees` of db/due.
  fees numeric(78, 0),
  primary key (payee, payer, chain, funder)
) with (fillfactor = 85);
-- As settlement_payer_payer: for those who ask with `length(chain) > 0`, so that who knows the payee too has the key alone.
create index payment_sum_by_payer on payment_sum (payer) where length(chain) > 0;
create index payment_sum_funder_payee on payment_sum (funder, payee, chain, payer) where funder <> '';

-- Whether a payer paid, of one of these sums: so much came to the payee, and so much of all that was paid did not go back.
create function has_paid(amount numeric, fees numeric, refunded numeric, at_least numeric default 1) returns boolean
  language sql immutable parallel safe as $$
  select least(amount, amount + coalesce(fees, 0) - refunded) >= at_least
$$;

-- What an escrow took of a payment of which something may go back.
create function escrow_fee(kind text, gross numeric, net numeric) returns numeric language sql immutable parallel safe as $$
  select case when kind in ('escrow_charge', 'escrow_capture') then gross - net else 0 end
$$;
create index payment_fee on payment (payer, payee) where escrow_fee(kind, gross, net) > 0;

-- Whether a payment or a refund is in it. A token may be listed from a block on: what was paid in it before is in no sum.
create function is_summed(p payment) returns boolean language sql stable as $$
  select (p.net <> 0 or escrow_fee(p.kind, p.gross, p.net) > 0)
     and exists (select from chain_contract c
                  where c.chain = p.chain and c.address = '0x' || encode(p.token, 'hex') and c.from_block <= p.block_number)
     and not exists (select from settlement_unrolled u
                      where u.chain = p.chain and p.block_number between u.from_block and u.to_block)
$$;

create view payment_summed as select * from payment p where is_summed(p);

create function add_payment_sums(more payment_sum[]) returns void language sql as $$
  insert into payment_sum as s (payee, payer, chain, first_at, last_at, amount, refunded, funder, fees)
  select payee, payer, chain, first_at, last_at, amount, refunded, funder, fees
    from unnest(more) order by payee, payer, chain, funder
      on conflict (payee, payer, chain, funder) do update
     set first_at = least(s.first_at, excluded.first_at), last_at = greatest(s.last_at, excluded.last_at),
         amount = s.amount + excluded.amount, refunded = s.refunded + excluded.refunded, fees = s.fees + excluded.fees
$$;

-- As `nearest_settlement`: the time of the payment that follows one that is gone as the first or the last of its sum.
create function nearest_payment(to_payee bytea, by_payer bytea, of_chain text, by_funder bytea, block int, at timestamptz,
                                is_upwards boolean)
  returns timestamptz language plpgsql stable set plan_cache_mode = force_generic_plan set enable_sort = off as $$
declare
  paid refcursor;
  given refcursor;
  one payment;
begin
  if is_upwards then
    block := coalesce((select p.block_number + 1 from payment p
                        where p.payer = by_payer and p.chain = of_chain and p.block_number < block and p.block_timestamp < at
                          and p.net > 0
                        order by p.block_number desc limit 1), 0);
    open paid for select p.* from payment p where p.payee = to_payee and p.block_timestamp >= at and p.net > 0
                   order by p.block_timestamp, p.chain, p.block_number, p.log_index;
    open given for select p.* from payment p where p.payer = by_payer and p.block_number >= block and p.net > 0
                   order by p.block_number;
  else
    block := coalesce((select p.block_number - 1 from payment p
                        where p.payer = by_payer and p.chain = of_chain and p.block_number > block and p.block_timestamp > at
                          and p.net > 0
                        order by p.block_number limit 1), 2147483647);
    open paid for select p.* from payment p where p.payee = to_payee and p.block_timestamp <= at and p.net > 0
                   order by p.block_timestamp desc, p.chain desc, p.block_number desc, p.log_index desc;
    open given for select p.* from payment p where p.payer = by_payer and p.block_number <= block and p.net > 0
                   order by p.block_number desc;
  end if;
  for turn in 1 .. 2000000000 loop
    if turn % 2 = 0 then
      fetch paid into one;
    else
      fetch given into one;
    end if;
    exit when not found
           or (one.payee, one.payer, one.chain, coalesce(one.funder, '')) = (to_payee, by_payer, of_chain, by_funder)
              and is_summed(one);
  end loop;
  close paid;
  close given;
  return one.block_timestamp;
end $$;

create function subtract_payment_sums(less payment[]) returns void language sql as $$
  with gone as materialized (
    select payee, payer, chain, coalesce(funder, '') as funder, min(block_number) filter (where net > 0) as first_block,
           max(block_number) filter (where net > 0) as last_block, min(block_timestamp) filter (where net > 0) as first_at,
           max(block_timestamp) filter (where net > 0) as last_at, coalesce(sum(net) filter (where net > 0), 0) as amount,
           coalesce(-sum(net) filter (where net < 0), 0) as refunded, sum(escrow_fee(kind, gross, net)) as fees
      from unnest(less) p
     where is_summed(p)
     group by payee, payer, chain, coalesce(funder, '')
  ),
  kept as materialized (
    select s.payee, s.payer, s.chain, s.funder, s.amount - gone.amount as amount, s.refunded - gone.refunded as refunded,
           s.fees - gone.fees as fees,
           case when s.amount = gone.amount then 'infinity' when gone.first_at is null or gone.first_at > s.first_at then s.first_at
                else coalesce(nearest_payment(s.payee, s.payer, s.chain, s.funder, gone.first_block, gone.first_at, true), s.first_at)
           end as first_at,
           case when s.amount = gone.amount then '-infinity' when gone.last_at is null or gone.last_at < s.last_at then s.last_at
                else coalesce(nearest_payment(s.payee, s.payer, s.chain, s.funder, gone.last_block, gone.last_at, false), s.last_at)
           end as last_at
      from gone
      join payment_sum s using (payee, payer, chain, funder)
  ),
  removed as (
    delete from payment_sum s using kept
     where (s.payee, s.payer, s.chain, s.funder) = (kept.payee, kept.payer, kept.chain, kept.funder)
       and kept.amount = 0 and kept.refunded = 0 and coalesce(kept.fees, 0) = 0
  )
  update payment_sum s
     set first_at = kept.first_at, last_at = kept.last_at, amount = kept.amount, refunded = kept.refunded,
         fees = kept.fees
    from kept
   where (s.payee, s.payer, s.chain, s.funder) = (kept.payee, kept.payer, kept.chain, kept.funder)
     and (kept.amount <> 0 or kept.refunded <> 0 or kept.fees <> 0)
$$;

-- Payments that come into blocks that are rolled up, or go from there, under the lock of the roll-up.
create function sum_payments() returns trigger language plpgsql as $$
begin
  if not exists (select from moved
                  where not exists (select from settlement_unrolled u
                                     where u.chain = moved.chain and moved.block_number between u.from_block and u.to_block)) then
    return null;
  end if;
  if tg_op = 'INSERT' then
    perform add_payment_sums(array(
      select row(p.payee, p.payer, p.chain, coalesce(min(p.block_timestamp) filter (where p.net > 0), 'infinity'),
                 coalesce(max(p.block_timestamp) filter (where p.net > 0), '-infinity'),
                 coalesce(sum(p.net) filter (where p.net > 0), 0),
                 coalesce(-sum(p.net) filter (where p.net < 0), 0), coalesce(p.funder, ''),
                 sum(escrow_fee(p.kind, p.gross, p.net)))::payment_sum
        from moved
       cross join lateral (select * from payment_summed s where s.id = moved.id offset 0) p
       group by p.payee, p.payer, p.chain, coalesce(p.funder, '')));
  else
    perform subtract_payment_sums(array(select moved::payment from moved));
  end if;
  return null;
end $$;
create trigger payment_added after insert on payment
  referencing new table as moved for each statement execute function sum_payments();
create trigger payment_removed after delete on payment
  referencing old table as moved for each statement execute function sum_payments();

-- The mark of blocks that are rolled up was moved from one block to another; back only after the payments behind it have
-- gone, each of which was taken off its sum.
create function sum_moved_blocks() returns trigger language plpgsql as $$
declare
  moved_chain text;
  before bigint;
begin
  if tg_table_name = 'settlement_rollup' then
    moved_chain := new.chain;
  else
    select b.chain, b.from_block into moved_chain, before from backfill b where b.id = new.backfill_id;
  end if;
  if tg_op = 'UPDATE' then
    before := old.next_block;
  end if;
  if before < new.next_block then
    perform add_payment_sums(array(
      select row(payee, payer, chain, coalesce(min(block_timestamp) filter (where net > 0), 'infinity'),
                 coalesce(max(block_timestamp) filter (where net > 0), '-infinity'),
                 coalesce(sum(net) filter (where net > 0), 0),
                 coalesce(-sum(net) filter (where net < 0), 0), coalesce(funder, ''),
                 sum(escrow_fee(kind, gross, net)))::payment_sum
        from payment_summed
       where chain = moved_chain and block_number >= before and block_number < new.next_block
       group by payee, payer, chain, coalesce(funder, '')));
  elsif new.next_block <= 0 then
    delete from payment_sum where chain = moved_chain;
  end if;
  return null;
end $$;
create trigger settlement_rollup_income after update on settlement_rollup
  for each row when (old.next_block <> new.next_block) execute function sum_moved_blocks();
create trigger settlement_rollup_backfill_income after insert or update on settlement_rollup_backfill
  for each row execute function sum_moved_blocks();

-- Money that goes round: payers of an agent's address to whom a part of what the address pays comes back over others.
-- Written by the enrichment job from the sums by payer.
create table income_ring (
  recipient bytea not null, -- an address of an agent
  payer bytea not null,
  primary key (recipient, payer)
);

-- Whose payments, or whose ratings, were looked at for an address: while nothing of these moves, its rings, or circles, stand.
create table circle_reach (
  kind text not null,    -- of the derivation: rings or circles; circles back: who rated the member was looked at
  member bytea not null, -- the payer, or the client
  address bytea not null,
  primary key (kind, member, address)
);
create index circle_reach_address on circle_reach (kind, address);
