-- By whose money a sum was paid.
alter table payment_sum add column funder bytea not null default '';
