-- While versions change, a job of the one before may still run: it adds to fewer tables than there are, and what it left
-- out would never be added. So marks move only in a transaction that names the sums it keeps, as `lockRollup` does; any
-- other is refused whole, with what it has added.

create function refuse_other_sums() returns trigger language plpgsql as $$
begin
  if coalesce(current_setting('directory.sums', true), '') <> 'hours, totals, payers' then
    raise exception 'this program does not keep the sums of settlements that this database has; update it';
  end if;
  return new;
end $$;
create trigger settlement_rollup_moved before update on settlement_rollup
  for each row execute function refuse_other_sums();
create trigger settlement_rollup_backfill_moved before insert or update on settlement_rollup_backfill
  for each row execute function refuse_other_sums();
