-- What escrows took of payments, in the sums by payer: who got back what the payee had of it paid the fees.
alter table payment_sum add column fees numeric(78, 0);

create or replace function has_paid(amount numeric, fees numeric, refunded numeric, at_least numeric default 1) returns boolean
  language sql immutable parallel safe as $$
  select least(amount, amount + coalesce(fees, 0) - refunded) >= at_least
$$;

create or replace function escrow_fee(kind text, gross numeric, net numeric) returns numeric language sql immutable parallel safe as $$
  select case when kind in ('escrow_charge', 'escrow_capture') then gross - net else 0 end
$$;

create or replace function is_summed(p payment) returns boolean language sql stable as $$
  select (p.net <> 0 or escrow_fee(p.kind, p.gross, p.net) > 0)
     and exists (select from chain_contract c
                  where c.chain = p.chain and c.address = '0x' || encode(p.token, 'hex') and c.from_block <= p.block_number)
     and not exists (select from settlement_unrolled u
                      where u.chain = p.chain and p.block_number between u.from_block and u.to_block)
$$;

create or replace function add_payment_sums(more payment_sum[]) returns void language sql as $$
  insert into payment_sum as s (payee, payer, chain, first_at, last_at, amount, refunded, funder, fees)
  select payee, payer, chain, first_at, last_at, amount, refunded, funder, fees
    from unnest(more) order by payee, payer, chain, funder
      on conflict (payee, payer, chain, funder) do update
     set first_at = least(s.first_at, excluded.first_at), last_at = greatest(s.last_at, excluded.last_at),
         amount = s.amount + excluded.amount, refunded = s.refunded + excluded.refunded, fees = s.fees + excluded.fees
$$;

create or replace function subtract_payment_sums(less payment[]) returns void language sql as $$
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

create or replace function sum_payments() returns trigger language plpgsql as $$
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

create or replace function sum_moved_blocks() returns trigger language plpgsql as $$
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
