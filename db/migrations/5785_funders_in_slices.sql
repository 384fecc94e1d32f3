-- What a late funding pays for is written again by the kind `funders` of the queue, so many rows at once.
drop trigger payment_funded on payment;
drop trigger payment_unfunded on payment;
drop function follow_funding();
-- Writes again what was paid out of a job, a channel or an escrow and is somebody else's money by what is stored of its fundings:
-- sums and marks follow rows that come and go. Of rows from a place on, so many; the place behind them, null: they were the last.
-- Call it under the locks of who writes payments, so that a roll-up that is about to sum these rows up comes first.
create function follow_funding(of_subject bytea, of_chain text, place bigint, most int) returns bigint
  language sql set enable_seqscan = off as $$
  with read as materialized (select p from payments_of_subject(of_subject, of_chain, place, most) p),
  gone as (
    delete from payment
     where id = any (array(
       select (read.p).id
         from read
        where (read.p).kind in ('job_release', 'batch_claim', 'escrow_capture', 'escrow_refund', 'escrow_return')
          and with_funder(read.p) is distinct from read.p))
    returning *
  ),
  stored as (insert into payment select * from gone)
  select max(((read.p).block_number::bigint << 32) + (read.p).log_index) + 1 from read having count(*) = most
$$;
