-- Hours of income that are to be summed up are keys of the one queue.
drop trigger settlement_hourly_income_added on settlement_hourly;
drop trigger settlement_hourly_income_changed on settlement_hourly;
drop trigger settlement_hourly_income_removed on settlement_hourly;
drop trigger facilitator_sender_added on facilitator_sender;
drop trigger facilitator_sender_removed on facilitator_sender;
drop trigger builder_code_added on builder_code;
drop trigger builder_code_removed on builder_code;
drop trigger settlement_rollup_income on settlement_rollup;
drop trigger settlement_rollup_backfill_income on settlement_rollup_backfill;
drop function note_income_hours(), note_facilitator_hours(), note_builder_codes(), note_rollup(), note_backfill_rollup(),
  note_moved_blocks(text, bigint, bigint), sum_moved_blocks(text, bigint, bigint);

alter function note_payments() rename to sum_payments;
create or replace function sum_payments() returns trigger language plpgsql as $$
begin
  if not exists (select from moved
                  where not exists (select from settlement_unrolled u
                                     where u.chain = moved.chain and moved.block_number between u.from_block and u.to_block)) then
    return null;
  end if;
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
      select row(payee, payer, chain, min(block_timestamp), max(block_timestamp), sum(net))::payment_sum
        from payment_summed
       where chain = moved_chain and block_number >= before and block_number < new.next_block
       group by payee, payer, chain));
  elsif new.next_block <= 0 then
    delete from payment_sum where chain = moved_chain;
  end if;
  return null;
end $$;
create trigger settlement_rollup_income after update on settlement_rollup
  for each row when (old.next_block <> new.next_block) execute function sum_moved_blocks();
create trigger settlement_rollup_backfill_income after insert or update on settlement_rollup_backfill
  for each row execute function sum_moved_blocks();

-- As `npm run migrate` makes them from the list of kinds: no hour is missed before it does.
create trigger mark_added after insert on settlement_hourly
  referencing new table as moved for each statement execute function mark_due('income hours', 'select encode(moved.recipient, ''hex'') || '':'' || moved.chain || '':'' || floor(extract(epoch from moved.hour) / 3600)::bigint from moved where exists (select from income_address a where a.address = moved.recipient)');
create trigger mark_changed after update on settlement_hourly
  referencing new table as moved for each statement execute function mark_due('income hours', 'select encode(moved.recipient, ''hex'') || '':'' || moved.chain || '':'' || floor(extract(epoch from moved.hour) / 3600)::bigint from moved where exists (select from income_address a where a.address = moved.recipient)');
create trigger mark_removed after delete on settlement_hourly
  referencing old table as moved for each statement execute function mark_due('income hours', 'select encode(moved.recipient, ''hex'') || '':'' || moved.chain || '':'' || floor(extract(epoch from moved.hour) / 3600)::bigint from moved where exists (select from income_address a where a.address = moved.recipient)');
create trigger mark_added after insert on facilitator_sender
  referencing new table as moved for each statement execute function mark_due('income hours', 'select encode(paid.recipient, ''hex'') || '':'' || paid.chain || '':'' || floor(extract(epoch from paid.at) / 3600)::bigint from moved
     cross join lateral (
       select h.recipient, h.chain, h.hour as at
         from income_sender f
         join settlement_hourly h on h.recipient = f.recipient and h.chain = f.chain
                                 and h.hour >= date_trunc(''hour'', f.first_at, ''UTC'') and h.hour <= f.last_at
        where f.facilitator = moved.address
        union all
       select p.payee, p.chain, p.block_timestamp
         from payment p
        where p.facilitator = moved.address and p.kind = ''forwarded'') paid
     where exists (select from income_address a where a.address = paid.recipient)');
create trigger mark_removed after delete on facilitator_sender
  referencing old table as moved for each statement execute function mark_due('income hours', 'select encode(paid.recipient, ''hex'') || '':'' || paid.chain || '':'' || floor(extract(epoch from paid.at) / 3600)::bigint from moved
     cross join lateral (
       select h.recipient, h.chain, h.hour as at
         from income_sender f
         join settlement_hourly h on h.recipient = f.recipient and h.chain = f.chain
                                 and h.hour >= date_trunc(''hour'', f.first_at, ''UTC'') and h.hour <= f.last_at
        where f.facilitator = moved.address
        union all
       select p.payee, p.chain, p.block_timestamp
         from payment p
        where p.facilitator = moved.address and p.kind = ''forwarded'') paid
     where exists (select from income_address a where a.address = paid.recipient)');
create trigger mark_added after insert on builder_code
  referencing new table as moved for each statement execute function mark_due('income hours', 'select encode(paid.recipient, ''hex'') || '':'' || paid.chain || '':'' || floor(extract(epoch from paid.at) / 3600)::bigint from (
       with rolled as materialized (
         select chain, block_number, log_index from moved
          where not exists (select from settlement_unrolled u
                             where u.chain = moved.chain and moved.block_number between u.from_block and u.to_block))
       select s.recipient, s.chain, s.block_timestamp as at from rolled join settlement s using (chain, block_number, log_index)
        union all
       select p.payee, p.chain, p.block_timestamp from rolled join payment p using (chain, block_number, log_index)) paid
     where exists (select from income_address a where a.address = paid.recipient)');
create trigger mark_removed after delete on builder_code
  referencing old table as moved for each statement execute function mark_due('income hours', 'select encode(paid.recipient, ''hex'') || '':'' || paid.chain || '':'' || floor(extract(epoch from paid.at) / 3600)::bigint from (
       with rolled as materialized (
         select chain, block_number, log_index from moved
          where not exists (select from settlement_unrolled u
                             where u.chain = moved.chain and moved.block_number between u.from_block and u.to_block))
       select s.recipient, s.chain, s.block_timestamp as at from rolled join settlement s using (chain, block_number, log_index)
        union all
       select p.payee, p.chain, p.block_timestamp from rolled join payment p using (chain, block_number, log_index)) paid
     where exists (select from income_address a where a.address = paid.recipient)');
create trigger mark_added after insert on payment
  referencing new table as moved for each statement execute function mark_due('income hours', 'select encode(paid.recipient, ''hex'') || '':'' || paid.chain || '':'' || floor(extract(epoch from paid.at) / 3600)::bigint from (
       with rolled as materialized (
         select chain, block_number, origin_log_index, payee, block_timestamp from moved
          where not exists (select from settlement_unrolled u
                             where u.chain = moved.chain and moved.block_number between u.from_block and u.to_block))
       select payee as recipient, chain, block_timestamp as at from rolled
        union all
       select p.payee, p.chain, p.block_timestamp from rolled join payment p using (chain, block_number, origin_log_index)) paid
     where exists (select from income_address a where a.address = paid.recipient)');
create trigger mark_removed after delete on payment
  referencing old table as moved for each statement execute function mark_due('income hours', 'select encode(paid.recipient, ''hex'') || '':'' || paid.chain || '':'' || floor(extract(epoch from paid.at) / 3600)::bigint from (
       with rolled as materialized (
         select chain, block_number, origin_log_index, payee, block_timestamp from moved
          where not exists (select from settlement_unrolled u
                             where u.chain = moved.chain and moved.block_number between u.from_block and u.to_block))
       select payee as recipient, chain, block_timestamp as at from rolled
        union all
       select p.payee, p.chain, p.block_timestamp from rolled join payment p using (chain, block_number, origin_log_index)) paid
     where exists (select from income_address a where a.address = paid.recipient)');
create trigger mark_changed after update on settlement_rollup
  referencing old table as were new table as moved for each statement execute function mark_due('income hours', 'select encode(paid.recipient, ''hex'') || '':'' || paid.chain || '':'' || floor(extract(epoch from paid.at) / 3600)::bigint from moved join were using (chain)
     cross join lateral (
       select p.payee as recipient, p.chain, p.block_timestamp as at
         from payment p
        where p.chain = moved.chain and p.block_number >= least(were.next_block, moved.next_block)
          and p.block_number < greatest(were.next_block, moved.next_block)
       offset 0) paid
     where exists (select from income_address a where a.address = paid.recipient)');
create trigger mark_added after insert on settlement_rollup_backfill
  referencing new table as moved for each statement execute function mark_due('income hours', 'select encode(paid.recipient, ''hex'') || '':'' || paid.chain || '':'' || floor(extract(epoch from paid.at) / 3600)::bigint from moved join backfill b on b.id = moved.backfill_id
     cross join lateral (
       select p.payee as recipient, p.chain, p.block_timestamp as at
         from payment p
        where p.chain = b.chain and p.block_number >= least(b.from_block, moved.next_block)
          and p.block_number < greatest(b.from_block, moved.next_block)
       offset 0) paid
     where exists (select from income_address a where a.address = paid.recipient)');
create trigger mark_changed after update on settlement_rollup_backfill
  referencing old table as were new table as moved for each statement execute function mark_due('income hours', 'select encode(paid.recipient, ''hex'') || '':'' || paid.chain || '':'' || floor(extract(epoch from paid.at) / 3600)::bigint from moved join were using (backfill_id) join backfill b on b.id = moved.backfill_id
     cross join lateral (
       select p.payee as recipient, p.chain, p.block_timestamp as at
         from payment p
        where p.chain = b.chain and p.block_number >= least(were.next_block, moved.next_block)
          and p.block_number < greatest(were.next_block, moved.next_block)
       offset 0) paid
     where exists (select from income_address a where a.address = paid.recipient)');
