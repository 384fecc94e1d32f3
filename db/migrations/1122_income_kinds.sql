-- Income of every kind: beside settlements what forwarders passed on and what Permit2 proxies paid. `passed_on`: an address
-- that the money went through in the same transaction is another agent's, whose income it is too; in sums over all agents
-- it is left out, so that money that came in once is there once. `other_n`: payments in tokens without a dollar figure,
-- with nothing in the amounts.

alter table income_hour drop constraint income_hour_pkey, add constraint income_hour_pkey primary key using index income_hour_key;

create or replace function sum_income() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into income_total as t (chain, kind, flag, x402, n, amount, dust_n, dust_amount, other_n)
    select chain, kind, flag, x402, sum(n), sum(amount), sum(dust_n), sum(dust_amount), sum(other_n) from added
     where not passed_on
     group by 1, 2, 3, 4 order by 1, 2, 3, 4
        on conflict (chain, kind, flag, x402) do update
       set n = t.n + excluded.n, amount = t.amount + excluded.amount, dust_n = t.dust_n + excluded.dust_n,
           dust_amount = t.dust_amount + excluded.dust_amount, other_n = t.other_n + excluded.other_n;
  elsif tg_op = 'UPDATE' then
    insert into income_total as t (chain, kind, flag, x402, n, amount, dust_n, dust_amount, other_n)
    select chain, kind, flag, x402, sum(n), sum(amount), sum(dust_n), sum(dust_amount), sum(other_n)
      from (select chain, kind, flag, x402, n, amount, dust_n, dust_amount, other_n from added where not passed_on
             union all
            select chain, kind, flag, x402, -n, -amount, -dust_n, -dust_amount, -other_n from removed
             where not passed_on) moved
     group by 1, 2, 3, 4 order by 1, 2, 3, 4
        on conflict (chain, kind, flag, x402) do update
       set n = t.n + excluded.n, amount = t.amount + excluded.amount, dust_n = t.dust_n + excluded.dust_n,
           dust_amount = t.dust_amount + excluded.dust_amount, other_n = t.other_n + excluded.other_n;
  else
    insert into income_total as t (chain, kind, flag, x402, n, amount, dust_n, dust_amount, other_n)
    select chain, kind, flag, x402, -sum(n), -sum(amount), -sum(dust_n), -sum(dust_amount), -sum(other_n) from removed
     where not passed_on
     group by 1, 2, 3, 4 order by 1, 2, 3, 4
        on conflict (chain, kind, flag, x402) do update
       set n = t.n + excluded.n, amount = t.amount + excluded.amount, dust_n = t.dust_n + excluded.dust_n,
           dust_amount = t.dust_amount + excluded.dust_amount, other_n = t.other_n + excluded.other_n;
  end if;
  return null;
end $$;

-- An hour that is due already is written once more: whoever sums it up meanwhile would take the note away without having
-- seen why it was made again.
create or replace function note_income_hours() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    insert into income_due (recipient, chain, hour)
    select distinct recipient, chain, hour from removed
     where exists (select from income_address a where a.address = removed.recipient)
     order by 1, 2, 3 on conflict (recipient, chain, hour) do update set hour = excluded.hour;
  else
    insert into income_due (recipient, chain, hour)
    select distinct recipient, chain, hour from added
     where exists (select from income_address a where a.address = added.recipient)
     order by 1, 2, 3 on conflict (recipient, chain, hour) do update set hour = excluded.hour;
  end if;
  return null;
end $$;

create or replace function note_facilitator_hours() returns trigger language plpgsql as $$
begin
  insert into income_due (recipient, chain, hour)
  select recipient, chain, hour
    from (select h.recipient, h.chain, h.hour
            from moved
            join settlement_facilitator f on f.facilitator = moved.address
            join settlement_hourly h on h.recipient = f.recipient and h.chain = f.chain and h.overload = f.overload
                                    and h.hour >= date_trunc('hour', f.first_at, 'UTC') and h.hour <= f.last_at
           union
          select p.payee, p.chain, date_trunc('hour', p.block_timestamp, 'UTC')
            from moved
            join payment p on p.facilitator = moved.address and p.kind = 'forwarded') hours
   where exists (select from income_address a where a.address = hours.recipient)
   order by 1, 2, 3 on conflict (recipient, chain, hour) do update set hour = excluded.hour;
  return null;
end $$;

-- Payments that come into blocks that are rolled up, or go from there, under the lock of the roll-up.
create function note_payments() returns trigger language plpgsql as $$
begin
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
  return null;
end $$;
create trigger payment_added after insert on payment
  referencing new table as moved for each statement execute function note_payments();
create trigger payment_removed after delete on payment
  referencing old table as moved for each statement execute function note_payments();

-- Blocks that become rolled up, or are no longer.
create function note_moved_blocks(moved_chain text, first_block bigint, behind_block bigint) returns void language sql as $$
  insert into income_due (recipient, chain, hour)
  select distinct p.payee, p.chain, date_trunc('hour', p.block_timestamp, 'UTC')
    from payment p
   where p.chain = moved_chain and p.block_number >= first_block and p.block_number < behind_block
     and exists (select from income_address a where a.address = p.payee)
   order by 1, 2, 3 on conflict (recipient, chain, hour) do update set hour = excluded.hour
$$;
create function note_rollup() returns trigger language plpgsql as $$
begin
  perform note_moved_blocks(new.chain, least(old.next_block, new.next_block), greatest(old.next_block, new.next_block));
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
  perform note_moved_blocks(b.chain, least(before, new.next_block), greatest(before, new.next_block))
     from backfill b where b.id = new.backfill_id;
  return null;
end $$;
create trigger settlement_rollup_backfill_income after insert or update on settlement_rollup_backfill
  for each row execute function note_backfill_rollup();

-- What is rolled up so far.
do $$ begin perform from settlement_rollup order by chain for update; end $$;
insert into income_due (recipient, chain, hour)
select distinct p.payee, p.chain, date_trunc('hour', p.block_timestamp, 'UTC')
  from payment p
 where exists (select from income_address a where a.address = p.payee)
   and not exists (select from settlement_unrolled u
                    where u.chain = p.chain and p.block_number between u.from_block and u.to_block)
 order by 1, 2, 3 on conflict do nothing;

create or replace view directory.income as
select i.fid, i.hour, i.chain, '0x' || encode(i.recipient, 'hex') as recipient_address, i.kind, i.flag,
       i.flag = 'none' as filtered, i.x402, i.n as payments, i.amount * 0.000001 as amount_usdc,
       i.dust_n as dust_payments, i.first_at as first_paid_at, i.last_at as last_paid_at,
       i.passed_on, i.other_n as other_token_payments
  from public.income_hour i
 where exists (select from public.agent a where a.fid = i.fid);

create or replace view directory.income_daily as
select i.fid, date_trunc('day', i.hour, 'UTC') as day, i.chain, i.kind, sum(i.n)::bigint as payments,
       sum(i.amount) * 0.000001 as amount_usdc,
       coalesce(sum(i.n) filter (where i.flag = 'none'), 0)::bigint as filtered_payments,
       coalesce(sum(i.amount) filter (where i.flag = 'none'), 0) * 0.000001 as filtered_amount_usdc,
       coalesce(sum(i.amount) filter (where i.x402), 0) * 0.000001 as x402_amount_usdc,
       coalesce(sum(i.amount) filter (where i.passed_on), 0) * 0.000001 as passed_on_amount_usdc,
       coalesce(sum(i.amount) filter (where i.passed_on and i.flag = 'none'), 0) * 0.000001
         as filtered_passed_on_amount_usdc
  from public.income_hour i
 where exists (select from public.agent a where a.fid = i.fid)
 group by i.fid, date_trunc('day', i.hour, 'UTC'), i.chain, i.kind;

comment on column directory.income.kind is 'eip3009_vrs or eip3009_bytes: a settlement, by the form of its signature; forwarded: passed on by a forwarder in the transaction that paid it; permit2_exact or permit2_upto: by one of x402’s proxies for Permit2.';
comment on column directory.income.x402 is 'Whether a known facilitator sent it, or one of x402’s own contracts settled it.';
comment on column directory.income.payments is 'Payments in it, whatever the token.';
comment on column directory.income.amount_usdc is 'Dollars, with all six decimals; without payments in other tokens.';
comment on column directory.income.passed_on is 'Whether the money is income of another agent too, whose address it went through in the same transaction. A sum over agents leaves these out.';
comment on column directory.income.other_token_payments is 'Those of the payments that are in tokens without a dollar figure.';
comment on column directory.income_daily.kind is 'eip3009_vrs, eip3009_bytes, forwarded, permit2_exact or permit2_upto, as in the view income.';
comment on column directory.income_daily.payments is 'Payments, whoever paid and whatever the token.';
comment on column directory.income_daily.x402_amount_usdc is 'Dollars that known facilitators or x402’s own contracts settled, whoever paid.';
comment on column directory.income_daily.passed_on_amount_usdc is 'Dollars that are income of another agent too, whose address they went through. A sum over agents takes these off.';
comment on column directory.income_daily.filtered_passed_on_amount_usdc is 'Those of the filtered dollars.';
select directory.grant_reader();
