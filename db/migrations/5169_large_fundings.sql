drop function funding_before(payment);
-- Who put the most at once into a job, a channel or an escrow before a row of it, null: nobody is known to have; of which size
-- that is, and how often somebody put in so much. Of the largest size there was by then only the first twenty times are read, and
-- of larger ones behind the row the first of each size, so that nobody makes it dear to know who paid, and small sums hide no
-- large one.
create function funding_before(p payment, out funder bytea, out size int, out times int) language plpgsql stable
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
declare
  below int := 2147483647;
  one record;
begin
  loop
    select funding_size(f.gross) as size, (f.block_number, f.log_index) < (p.block_number, p.log_index) as is_before into one
      from payment f
     where funded_subject(f.kind, f.subject) = p.subject and f.chain = p.chain and funding_size(f.gross) < below
     order by funding_size(f.gross) desc, f.block_number, f.log_index
     limit 1;
    exit when one.is_before is not false;
    below := one.size;
  end loop;
  size := one.size;
  select (array_agg(f.payer order by f.gross desc, f.block_number, f.log_index))[1], count(*) into funder, times
    from (select * from payment f
           where funded_subject(f.kind, f.subject) = p.subject and f.chain = p.chain and funding_size(f.gross) = one.size
             and (f.block_number, f.log_index) < (p.block_number, p.log_index)
           order by f.block_number, f.log_index
           limit 20) f;
end $$;

create or replace function follow_funding() returns trigger language plpgsql as $$
declare
  first payment;
  before record;
  done text;
begin
  for first in
    select m.* from moved m
     where funded_subject(m.kind, m.subject) is not null
     order by m.subject, m.chain, m.block_number, m.log_index
  loop
    continue when first.chain || first.subject::text = done;
    perform pg_advisory_xact_lock(8013, hashtext(first.chain));
    before := funding_before(first);
    continue when before.size > funding_size(first.gross) or before.size = funding_size(first.gross) and before.times = 20;
    done := first.chain || first.subject::text;
    continue when not exists (select from payment p
                               where p.subject = first.subject and p.chain = first.chain
                                 and (p.block_number, p.log_index) > (first.block_number, first.log_index));
    perform from settlement_rollup r where r.chain = first.chain for update;
    with gone as (
      delete from payment p
       where p.subject = first.subject and p.chain = first.chain
         and p.kind in ('job_release', 'batch_claim', 'escrow_capture', 'escrow_refund', 'escrow_return')
         and (p.block_number, p.log_index) > (first.block_number, first.log_index)
         and with_funder(p) is distinct from p
      returning p.*
    )
    insert into payment select * from gone;
  end loop;
  return null;
end $$;

-- What was paid behind twenty fundings, and may be somebody else's money.
select pg_advisory_xact_lock(8013, hashtext(chain)) from settlement_rollup order by chain;
select from settlement_rollup order by chain for update;
with long as materialized (
  select funded_subject(kind, subject) as subject, chain from payment
   where funded_subject(kind, subject) is not null
   group by 1, 2 having count(*) > 20
),
gone as (
  delete from payment p using long
   where p.subject = long.subject and p.chain = long.chain
     and p.kind in ('job_release', 'batch_claim', 'escrow_capture', 'escrow_refund', 'escrow_return')
     and with_funder(p) is distinct from p
  returning p.*
)
insert into payment select * from gone;
