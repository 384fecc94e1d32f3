-- Whoever has a sum has been seen.
alter table facilitator_total
  add constraint times_known check (last_at is not null and first_at is not null) not valid;
