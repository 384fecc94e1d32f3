-- One queue of everything that is derived (db/schema/tables/16_due.sql), and the addresses in it whose rings are to be searched.
create table due (
  kind text not null,
  key text not null,          -- a FID, an address in hex, a registration as chain:id
  due_at timestamptz not null default '-infinity', -- which is at once
  seq bigint generated always as identity,
  attempts int not null default 0,                 -- how often its derivation has failed since it last succeeded
  primary key (kind, due_at, seq)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);
create index due_key on due (kind, key);
create index due_failing on due (kind, attempts) where attempts > 0;

-- Marks keys of rows that came, changed or went, the transition table `moved`. Its arguments are pairs of a kind and a
-- query for keys.
--
-- A session keeps the plan of a trigger's first statement. The first may come while there is hardly a row, and be planned
-- to read whole tables; by that plan a million sums of a loaded range read them a million times. So queries are planned
-- each time, for the rows that moved and the tables as they are.
create function mark_due() returns trigger language plpgsql as $$
begin
  for pair in 0 .. tg_nargs - 2 by 2 loop
    execute format('insert into due (kind, key) select distinct %L, key from (%s) marked (key)',
                   tg_argv[pair], tg_argv[pair + 1]);
  end loop;
  return null;
end $$;

drop trigger settlement_payer_ring_added on settlement_payer;
drop trigger settlement_payer_ring_changed on settlement_payer;
drop trigger settlement_payer_ring_removed on settlement_payer;
drop trigger payment_sum_ring_added on payment_sum;
drop trigger payment_sum_ring_changed on payment_sum;
drop trigger payment_sum_ring_removed on payment_sum;
drop function note_ring_payers();
drop trigger income_address_ring_added on income_address;
drop trigger income_address_ring_removed on income_address;
drop function note_ring_addresses();

create trigger mark_added after insert on settlement_payer
  referencing new table as moved for each statement execute function mark_due(
    'rings', 'select encode(r.address, ''hex'') from moved join income_reach r on r.payer = moved.payer');
create trigger mark_changed after update on settlement_payer
  referencing new table as moved for each statement execute function mark_due(
    'rings', 'select encode(r.address, ''hex'') from moved join income_reach r on r.payer = moved.payer');
create trigger mark_removed after delete on settlement_payer
  referencing old table as moved for each statement execute function mark_due(
    'rings', 'select encode(r.address, ''hex'') from moved join income_reach r on r.payer = moved.payer');

create trigger mark_added after insert on payment_sum
  referencing new table as moved for each statement execute function mark_due(
    'rings', 'select encode(r.address, ''hex'') from moved join income_reach r on r.payer = moved.payer');
create trigger mark_changed after update on payment_sum
  referencing new table as moved for each statement execute function mark_due(
    'rings', 'select encode(r.address, ''hex'') from moved join income_reach r on r.payer = moved.payer');
create trigger mark_removed after delete on payment_sum
  referencing old table as moved for each statement execute function mark_due(
    'rings', 'select encode(r.address, ''hex'') from moved join income_reach r on r.payer = moved.payer');

create trigger mark_added after insert on income_address
  referencing new table as moved for each statement execute function mark_due(
    'rings', 'select encode(moved.address, ''hex'') from moved');
create trigger mark_removed after delete on income_address
  referencing old table as moved for each statement execute function mark_due(
    'rings', 'select encode(moved.address, ''hex'') from moved');

insert into due (kind, key) select 'rings', encode(address, 'hex') from income_ring_due;
-- squawk-ignore ban-drop-table
drop table income_ring_due;
