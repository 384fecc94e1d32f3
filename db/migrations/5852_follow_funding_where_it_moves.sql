-- Without a statement that writes where nothing is to be written.
drop function follow_funding(bytea, text, bigint, int);
create function follow_funding(of_subject bytea, of_chain text, place bigint, most int) returns bigint
  language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  others text[];
  read int;
  last bigint;
begin
  select array_agg(p.id) filter (where p.kind in ('job_release', 'batch_claim', 'escrow_capture', 'escrow_refund', 'escrow_return')
                                       and with_funder(p) is distinct from p),
         count(*), max((p.block_number::bigint << 32) + p.log_index)
    into others, read, last
    from payments_of_subject(of_subject, of_chain, place, most) p;
  -- Of most fundings nothing is somebody else's: the triggers of the table run for each statement, whether or not rows move.
  if others is not null then
    with gone as (delete from payment where id = any (others) returning *)
    insert into payment select * from gone;
  end if;
  return case when read = most then last + 1 end;
end $$;
