-- Money that goes round: payers of an agent's address to whom a part of what the address pays comes back over others.
-- Written by the enrichment job from the sums by payer.
create table income_ring (
  recipient bytea not null,              -- an address of an agent
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

-- Addresses whose rings are to be looked for anew.
create table income_ring_due (
  address bytea primary key
);

create function note_ring_payers() returns trigger language plpgsql as $$
begin
  insert into income_ring_due (address)
  select distinct r.address from changed join income_reach r on r.payer = changed.payer order by 1
      on conflict (address) do update set address = excluded.address;
  return null;
end $$;
create trigger settlement_payer_ring_added after insert on settlement_payer
  referencing new table as changed for each statement execute function note_ring_payers();
create trigger settlement_payer_ring_changed after update on settlement_payer
  referencing new table as changed for each statement execute function note_ring_payers();
create trigger settlement_payer_ring_removed after delete on settlement_payer
  referencing old table as changed for each statement execute function note_ring_payers();

create function note_ring_addresses() returns trigger language plpgsql as $$
begin
  insert into income_ring_due (address) select distinct address from changed order by 1
      on conflict (address) do update set address = excluded.address;
  return null;
end $$;
create trigger income_address_ring_added after insert on income_address
  referencing new table as changed for each statement execute function note_ring_addresses();
create trigger income_address_ring_removed after delete on income_address
  referencing old table as changed for each statement execute function note_ring_addresses();

insert into income_ring_due (address) select distinct address from income_address order by 1;

comment on column directory.income.flag is 'self: payer and recipient are one address; same_owner: the payer is or was an address of the same agent; ring: the money goes round over three addresses or more; none.';
comment on column directory.income_daily.filtered_payments is 'Payments by others than the agent itself: without self, same_owner and ring.';
