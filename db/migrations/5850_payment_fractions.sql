-- Payments of less than a millionth of a dollar. Those that are there already are written again when their blocks are audited.
alter table payment add column fraction_sign smallint;
create or replace view payment_summed as select * from payment p where is_summed(p);
