-- What a row puts money into: a job, a channel or an escrow; null: it does not.
create function funded_subject(kind text, subject bytea) returns bytea language sql immutable parallel safe as $$
  select case when kind in ('job_funding', 'batch_deposit', 'escrow_authorization', 'escrow_charge') then subject end
$$;

-- Who put the most at once into a job, a channel or an escrow before a row of it, null: nobody is known to have; and how often
-- somebody did. Of the first times alone, so that nobody makes it dear to know who paid: what comes behind them tells nothing new.
create function funding_before(p payment, out funder bytea, out times int) language plpgsql stable
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
begin
  select (array_agg(f.payer order by f.gross desc, f.block_number, f.log_index))[1], count(*) into funder, times
    from (select * from payment f
           where funded_subject(f.kind, f.subject) = p.subject and f.chain = p.chain
             and (f.block_number, f.log_index) < (p.block_number, p.log_index)
           order by f.block_number, f.log_index
           limit 20) f;
end $$;

-- The row with what its funding tells. That is in another transaction, which may be loaded later than this one, and by somebody
-- else at the same time: so whoever writes either holds a lock of the chain until it commits, and takes it before that of the
-- roll-up. A job has its contract as payer, and an escrow's payment its operator, while nobody else is known.
create or replace function with_funder(p payment) returns payment language plpgsql as $$
declare
  found_funder bytea := (funding_before(p)).funder;
begin
  if p.kind = 'batch_claim' then
    p.funder := nullif(found_funder, p.payer);
  else
    p.payer := coalesce(found_funder, substr(p.subject, 1, 20));
  end if;
  return p;
end $$;

-- What was paid out of a job, a channel or an escrow behind a funding that came or went, and is somebody else's money thereby, is
-- written again: sums and marks follow rows that come and go. A roll-up that is about to sum these rows up comes first.
create or replace function follow_funding() returns trigger language plpgsql as $$
declare
  first payment;
begin
  for first in
    select distinct on (m.subject, m.chain) m.* from moved m
     where funded_subject(m.kind, m.subject) is not null
     order by m.subject, m.chain, m.block_number, m.log_index
  loop
    perform pg_advisory_xact_lock(8013, hashtext(first.chain));
    continue when (funding_before(first)).times = 20;
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
drop trigger payment_funded on payment;
drop trigger payment_unfunded on payment;
create trigger payment_funded after insert on payment
  referencing new table as moved for each statement execute function follow_funding();
create trigger payment_unfunded after delete on payment
  referencing old table as moved for each statement execute function follow_funding();
drop function funder_of(payment);
