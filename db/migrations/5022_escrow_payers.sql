-- Who put money there that a job, a channel or an escrow pays out or gives back: of what came before, the most at once; null:
-- nobody is known to have.
create or replace function funder_of(p payment) returns bytea language sql stable as $$
  select f.payer from payment f
   where f.subject = p.subject and f.chain = p.chain
     and case p.kind when 'job_release' then f.kind = 'job_funding'
                     when 'batch_claim' then f.kind = 'batch_deposit'
                     else f.kind in ('escrow_authorization', 'escrow_charge') end
     and (f.block_number, f.log_index) < (p.block_number, p.log_index)
   order by f.gross desc, f.block_number, f.log_index
   limit 1
$$;

-- The row with what its funding tells. That is in another transaction, which may be loaded later than this one, and by somebody
-- else at the same time: so whoever writes either holds a lock of the chain until it commits. A job has its contract as
-- payer, and an escrow's payment its operator, while nobody else is known.
create or replace function with_funder(p payment) returns payment language plpgsql as $$
declare
  found_funder bytea := funder_of(p);
begin
  if p.kind = 'batch_claim' then
    p.funder := nullif(found_funder, p.payer);
  else
    p.payer := coalesce(found_funder, substr(p.subject, 1, 20));
  end if;
  return p;
end $$;

create or replace function find_funder() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(8013, hashtext(new.chain));
  return with_funder(new);
end $$;
create or replace trigger payment_funder before insert on payment
  for each row when (new.subject is not null
                     and new.kind in ('job_release', 'batch_claim', 'escrow_capture', 'escrow_refund', 'escrow_return'))
  execute function find_funder();

-- What was paid out of a job, a channel or an escrow behind a funding that came or went, and is somebody else's money thereby, is
-- written again: sums and marks follow rows that come and go. A roll-up that is about to sum these rows up comes first.
create or replace function follow_funding() returns trigger language plpgsql as $$
declare
  moved payment := coalesce(new, old);
begin
  perform pg_advisory_xact_lock(8013, hashtext(moved.chain));
  if not exists (select from payment p
                  where p.subject = moved.subject and p.chain = moved.chain
                    and (p.block_number, p.log_index) > (moved.block_number, moved.log_index)) then
    return null;
  end if;
  perform from settlement_rollup r where r.chain = moved.chain for update;
  with gone as (
    delete from payment p
     where p.subject = moved.subject and p.chain = moved.chain
       and p.kind in ('job_release', 'batch_claim', 'escrow_capture', 'escrow_refund', 'escrow_return')
       and (p.block_number, p.log_index) > (moved.block_number, moved.log_index)
       and with_funder(p) is distinct from p
    returning p.*
  )
  insert into payment select * from gone;
  return null;
end $$;
create or replace trigger payment_funded after insert on payment
  for each row when (new.subject is not null
                     and new.kind in ('job_funding', 'batch_deposit', 'escrow_authorization', 'escrow_charge'))
  execute function follow_funding();
create or replace trigger payment_unfunded after delete on payment
  for each row when (old.subject is not null
                     and old.kind in ('job_funding', 'batch_deposit', 'escrow_authorization', 'escrow_charge'))
  execute function follow_funding();
