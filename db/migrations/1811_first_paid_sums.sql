-- A job of a version that does not keep `first_paid_at` may still run while versions change; what it added would say for
-- good that a payer paid later than it did. It is refused, as one that knows fewer tables is.
create or replace function refuse_other_sums() returns trigger language plpgsql as $$
begin
  if coalesce(current_setting('directory.sums', true), '') <> 'hours, totals, payers, senders, first payments' then
    raise exception 'this program does not keep the sums of settlements that this database has; update it';
  end if;
  return new;
end $$;
